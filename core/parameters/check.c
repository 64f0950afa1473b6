/* Sets parameters and checks them against their declarations: see check.h. */
#include "core/parameters/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_TEXT_SIZE = 32, CHOICES_TEXT_SIZE = 200 };

/* Writes `value` as a person would, with the fewest digits that read back as the same number. */
static const char *number_text(double value, char text[NUMBER_TEXT_SIZE]) {
    if (value == floor(value) && fabs(value) < 1e15) {
        snprintf(text, NUMBER_TEXT_SIZE, "%.0f", value);
        return text;
    }
    for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, NUMBER_TEXT_SIZE, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

static const char *choices_text(const struct parameter_declaration *declaration,
                                char text[CHOICES_TEXT_SIZE]) {
    size_t length = 0;
    const char *choice;
    text[0] = '\0';
    for (size_t i = 0; (choice = parameter_choice(declaration, i)) != NULL && length < CHOICES_TEXT_SIZE;
         i++) {
        int written = snprintf(text + length, CHOICES_TEXT_SIZE - length, "%s%s", i > 0 ? ", " : "", choice);
        length += written > 0 ? (size_t)written : 0;
    }
    return text;
}

/* The name of the type in a message. */
static const char *type_text(enum parameter_type type) {
    switch (type) {
    case PARAMETER_INTEGER:
        return "a whole number";
    case PARAMETER_REAL:
        return "a number";
    case PARAMETER_BOOLEAN:
        return "true or false";
    case PARAMETER_TEXT:
        return "a text";
    case PARAMETER_INTEGER_LIST:
        return "a list of whole numbers";
    case PARAMETER_MATRIX:
        return "a matrix: a list of non-empty rows of numbers, all of the same length";
    case PARAMETER_CHOICE:
    case PARAMETER_CHOICE_LIST:
        break; /* the message lists their choices instead */
    }
    return "something else";
}

bool parameter_faults_add_type(struct parameter_faults *faults,
                               const struct parameter_declaration *declaration, const char *given) {
    char choices[CHOICES_TEXT_SIZE];
    if (declaration->type == PARAMETER_CHOICE || declaration->type == PARAMETER_CHOICE_LIST)
        parameter_faults_add(faults, declaration->name, "must be %s %s; got %s",
                             declaration->type == PARAMETER_CHOICE ? "one of" : "a list of some of",
                             choices_text(declaration, choices), given);
    else
        parameter_faults_add(faults, declaration->name, "must be %s; got %s", type_text(declaration->type),
                             given);
    return false;
}

/* Quotes a text for a message; truncates a long text between characters. */
static const char *quoted_text(const char *value, char *text, size_t size) {
    size_t kept = strlen(value), limit = size - sizeof "\"...\"";
    bool cut = kept > limit;
    if (cut) {
        kept = limit;
        while (kept > 0 && ((unsigned char)value[kept] & 0xC0) == 0x80)
            kept--;
    }
    snprintf(text, size, "\"%.*s%s\"", (int)kept, value, cut ? "..." : "");
    return text;
}

static bool in_range(const struct parameter_declaration *declaration, double value) {
    if (!isfinite(value) || value > declaration->maximum)
        return false;
    return declaration->minimum_excluded ? value > declaration->minimum : value >= declaration->minimum;
}

/* `member` is "", or names the member of the list that is out of range. */
static bool fault_range(const struct parameter_declaration *declaration, const char *member, double value,
                        struct parameter_faults *faults) {
    char low[NUMBER_TEXT_SIZE], high[NUMBER_TEXT_SIZE], given[NUMBER_TEXT_SIZE];
    parameter_faults_add(faults, declaration->name, "%smust be %s %s and at most %s; got %s", member,
                         declaration->minimum_excluded ? "above" : "at least",
                         number_text(declaration->minimum, low), number_text(declaration->maximum, high),
                         number_text(value, given));
    return false;
}

size_t parameter_count_characters(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80; /* not a byte that continues a character */
    return count;
}

/* Clears the old value, so that setting twice does not leak, and a fault does not leave it in place. */
static struct parameter_value *value_clear(struct parameter_set *set, size_t index) {
    parameter_unset(set, index);
    return &set->values[index];
}

bool parameter_set_real(struct parameter_set *set, size_t index, double number,
                        struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = value_clear(set, index);
    bool whole_wanted = declaration->type == PARAMETER_INTEGER;
    if ((declaration->type != PARAMETER_REAL && !whole_wanted) ||
        (whole_wanted && isfinite(number) && number != floor(number))) {
        char given[NUMBER_TEXT_SIZE];
        return parameter_faults_add_type(faults, declaration, number_text(number, given));
    }
    if (!in_range(declaration, number))
        return fault_range(declaration, "", number, faults);
    if (whole_wanted)
        value->integer = (int64_t)number;
    value->real = number;
    value->is_set = true;
    return true;
}

bool parameter_set_integer(struct parameter_set *set, size_t index, int64_t number,
                           struct parameter_faults *faults) {
    if (!parameter_set_real(set, index, (double)number, faults))
        return false;
    /* Keep the integer itself: above 2^53 its conversion to double rounds. */
    if (set->declarations[index].type == PARAMETER_INTEGER)
        set->values[index].integer = number;
    return true;
}

bool parameter_set_boolean(struct parameter_set *set, size_t index, bool boolean,
                           struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = value_clear(set, index);
    if (declaration->type != PARAMETER_BOOLEAN)
        return parameter_faults_add_type(faults, declaration, boolean ? "true" : "false");
    value->boolean = boolean;
    value->is_set = true;
    return true;
}

static bool is_choice(const struct parameter_declaration *declaration, const char *name) {
    const char *choice;
    for (size_t i = 0; (choice = parameter_choice(declaration, i)) != NULL; i++)
        if (strcmp(choice, name) == 0)
            return true;
    return false;
}

bool parameter_set_text(struct parameter_set *set, size_t index, const char *text,
                        struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = value_clear(set, index);
    char given[60];
    if (declaration->type != PARAMETER_CHOICE && declaration->type != PARAMETER_TEXT)
        return parameter_faults_add_type(faults, declaration, quoted_text(text, given, sizeof given));
    if (declaration->type == PARAMETER_CHOICE && !is_choice(declaration, text))
        return parameter_faults_add_type(faults, declaration, quoted_text(text, given, sizeof given));
    size_t length = parameter_count_characters(text);
    if (declaration->length_maximum > 0 && length > declaration->length_maximum) {
        parameter_faults_add(faults, declaration->name, "must be at most %zu characters long; got %zu",
                             declaration->length_maximum, length);
        return false;
    }
    value->text = strdup(text);
    if (value->text == NULL)
        return parameter_faults_add_memory(faults);
    value->is_set = true;
    return true;
}

static bool check_list_length(const struct parameter_declaration *declaration, size_t count,
                              struct parameter_faults *faults) {
    if (count == 0) {
        parameter_faults_add(faults, declaration->name, "must have at least one member; got an empty list");
        return false;
    }
    if (declaration->length_maximum > 0 && count > declaration->length_maximum) {
        parameter_faults_add(faults, declaration->name, "must have at most %zu members; got %zu",
                             declaration->length_maximum, count);
        return false;
    }
    return true;
}

bool parameter_set_integers(struct parameter_set *set, size_t index, const int64_t *numbers, size_t count,
                            struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = value_clear(set, index);
    if (declaration->type != PARAMETER_INTEGER_LIST && count > 0)
        return parameter_faults_add_type(faults, declaration, "a list of numbers");
    if (declaration->type != PARAMETER_INTEGER_LIST)
        return parameter_faults_add_type(faults, declaration, "an empty list");
    if (!check_list_length(declaration, count, faults))
        return false;
    for (size_t i = 0; i < count; i++) {
        char member[40];
        snprintf(member, sizeof member, "member %zu ", i + 1);
        if (!in_range(declaration, (double)numbers[i]))
            return fault_range(declaration, member, (double)numbers[i], faults);
    }
    value->integers = malloc(count * sizeof *value->integers);
    if (value->integers == NULL)
        return parameter_faults_add_memory(faults);
    memcpy(value->integers, numbers, count * sizeof *value->integers);
    value->count = count;
    value->is_set = true;
    return true;
}

static bool check_choices(const struct parameter_declaration *declaration, const char *const *texts,
                          size_t count, struct parameter_faults *faults) {
    for (size_t i = 0; i < count; i++) {
        char given[60], choices[CHOICES_TEXT_SIZE];
        if (!is_choice(declaration, texts[i])) {
            parameter_faults_add(faults, declaration->name, "member %zu must be one of %s; got %s", i + 1,
                                 choices_text(declaration, choices),
                                 quoted_text(texts[i], given, sizeof given));
            return false;
        }
        for (size_t j = 0; j < i; j++)
            if (strcmp(texts[i], texts[j]) == 0) {
                parameter_faults_add(faults, declaration->name,
                                     "must not contain a member twice; got %s twice",
                                     quoted_text(texts[i], given, sizeof given));
                return false;
            }
    }
    return true;
}

bool parameter_set_texts(struct parameter_set *set, size_t index, const char *const *texts, size_t count,
                         struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = value_clear(set, index);
    if (declaration->type != PARAMETER_CHOICE_LIST)
        return parameter_faults_add_type(faults, declaration,
                                         count > 0 ? "a list of texts" : "an empty list");
    /* Check the members first: for a list with repetitions, that is a more helpful message than its length.
     */
    if (!check_choices(declaration, texts, count, faults) || !check_list_length(declaration, count, faults))
        return false;
    value->texts = calloc(count, sizeof *value->texts);
    if (value->texts == NULL)
        return parameter_faults_add_memory(faults);
    value->count = count;
    for (size_t i = 0; i < count; i++) {
        value->texts[i] = strdup(texts[i]);
        if (value->texts[i] == NULL) {
            parameter_unset(set, index);
            return parameter_faults_add_memory(faults);
        }
    }
    value->is_set = true;
    return true;
}

bool parameter_set_matrix(struct parameter_set *set, size_t index, const float *numbers, size_t rows,
                          size_t columns, struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = value_clear(set, index);
    if (declaration->type != PARAMETER_MATRIX)
        return parameter_faults_add_type(faults, declaration, "a matrix");
    if (rows == 0 || columns == 0) {
        parameter_faults_add(faults, declaration->name,
                             "must have at least one row and one column; got %zu x %zu", rows, columns);
        return false;
    }
    size_t limit = declaration->length_maximum;
    if (limit > 0 && (rows > limit || columns > limit)) {
        parameter_faults_add(faults, declaration->name,
                             "must have at most %zu rows and %zu columns; got %zu x %zu", limit, limit, rows,
                             columns);
        return false;
    }
    for (size_t i = 0; i < rows * columns; i++)
        if (!isfinite(numbers[i])) {
            parameter_faults_add(
                faults, declaration->name,
                "must contain only numbers within float32's range; row %zu, column %zu is outside it",
                i / columns + 1, i % columns + 1);
            return false;
        }
    value->matrix = malloc(rows * columns * sizeof *value->matrix);
    if (value->matrix == NULL)
        return parameter_faults_add_memory(faults);
    memcpy(value->matrix, numbers, rows * columns * sizeof *value->matrix);
    value->rows = rows;
    value->columns = columns;
    value->is_set = true;
    return true;
}
