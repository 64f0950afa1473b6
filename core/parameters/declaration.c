/* Declarations: see declaration.h. */
#include "core/parameters/declaration.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *parameter_choice(const struct parameter_declaration *declaration, size_t index) {
    if (declaration->choice_table != NULL)
        return declaration->choice_table->name(index);
    return declaration->choices != NULL ? declaration->choices[index] : NULL;
}

const char *parameter_choice_title(const struct parameter_declaration *declaration, size_t index) {
    const struct parameter_choice_table *table = declaration->choice_table;
    return table != NULL && table->title != NULL ? table->title(index) : parameter_choice(declaration, index);
}

/* A text under construction; it is truncated if it does not fit. */
struct sentence {
    char *text;
    size_t length;
};

static void append(struct sentence *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct sentence *sentence, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(sentence->text + sentence->length, PARAMETER_MEANING_SIZE - sentence->length,
                            format, arguments);
    va_end(arguments);
    sentence->length += written > 0 ? (size_t)written : 0;
    if (sentence->length >= PARAMETER_MEANING_SIZE)
        sentence->length = PARAMETER_MEANING_SIZE - 1;
}

/* Appends " (attention and transformer)", or nothing if the parameter applies to every choice. */
static void append_condition(struct sentence *sentence, const struct parameter_declaration *declaration) {
    const struct parameter_condition *condition = declaration->condition;
    const char *choice;
    size_t total = 0, count = 0, written = 0;
    for (; (choice = condition->choices->name(total)) != NULL; total++)
        count += condition->applies(choice, declaration->name);
    if (count == total)
        return;
    for (size_t i = 0; (choice = condition->choices->name(i)) != NULL; i++)
        if (condition->applies(choice, declaration->name)) {
            append(sentence, "%s%s", written == 0 ? " (" : written + 1 < count ? ", " : " and ", choice);
            written++;
        }
    append(sentence, count == 1 ? " only)" : ")");
}

const char *parameter_meaning(const struct parameter_declaration *declaration,
                              char text[PARAMETER_MEANING_SIZE]) {
    struct sentence sentence = {.text = text};
    const char *name;
    text[0] = '\0';
    for (size_t i = 0;
         declaration->type == PARAMETER_TEXT && (name = parameter_choice(declaration, i)) != NULL; i++)
        append(&sentence, "%s, ", name);
    append(&sentence, "%s", declaration->meaning);
    if (declaration->condition == NULL || sentence.length == 0)
        return text;
    sentence.length--; /* the full stop */
    append_condition(&sentence, declaration);
    append(&sentence, ".");
    return text;
}

static size_t minimum_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The Levenshtein distance, computed with one row of the table. Names longer than the row count as far. */
static size_t edit_distance(const char *a, const char *b) {
    enum { LONGEST = 64 };
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > LONGEST || length_b > LONGEST)
        return SIZE_MAX;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = minimum_of(substituted, minimum_of(row[j], row[j - 1]) + 1);
        }
    }
    return row[length_b];
}

const char *parameter_nearest_name(const struct parameter_declaration *declarations, size_t count,
                                   const char *name) {
    const char *nearest = NULL;
    size_t nearest_distance = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const char *candidate = declarations[i].name;
        size_t distance = edit_distance(name, candidate);
        /* A prefix is near, however short: "epoch" and "learning" are guesses that deserve a suggestion. */
        size_t length = strlen(name);
        if (length >= 3 && strncmp(candidate, name, length) == 0)
            distance = minimum_of(distance, 1);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = candidate;
        }
    }
    if (nearest == NULL || nearest_distance > 1 + strlen(nearest) / 3)
        return NULL;
    return nearest;
}
