/* Parameter sets: making, copying, defaults and reading. The checks are in check.c, the command
 * line's notation in parse.c. */
#include "core/parameters/parameter.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void parameter_faults_add(struct parameter_faults *faults, const char *field, const char *format, ...) {
    if (faults == NULL)
        return;
    struct parameter_fault *items = realloc(faults->items, (faults->count + 1) * sizeof *items);
    if (items == NULL) {
        faults->out_of_memory = true;
        return;
    }
    faults->items = items;
    struct parameter_fault *fault = &items[faults->count++];
    snprintf(fault->field, sizeof fault->field, "%s", field);
    error_trim_text(fault->field);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    error_trim_text(fault->message);
}

void parameter_faults_free(struct parameter_faults *faults) {
    if (faults == NULL)
        return;
    free(faults->items);
    *faults = (struct parameter_faults){0};
}

bool parameter_set_init(struct parameter_set *set, const struct parameter_declaration *declarations,
                        size_t count, struct error *error) {
    *set = (struct parameter_set){.declarations = declarations, .count = count};
    set->values = calloc(count > 0 ? count : 1, sizeof *set->values);
    if (set->values == NULL) {
        set->count = 0;
        return error_set_memory(error, count * sizeof *set->values);
    }
    return true;
}

void parameter_unset(struct parameter_set *set, size_t index) {
    struct parameter_value *value = &set->values[index];
    free(value->text);
    free(value->integers);
    free(value->matrix);
    if (value->texts != NULL)
        for (size_t i = 0; i < value->count; i++)
            free(value->texts[i]);
    free(value->texts);
    *value = (struct parameter_value){0};
}

void parameter_set_free(struct parameter_set *set) {
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->count; i++)
        parameter_unset(set, i);
    free(set->values);
    *set = (struct parameter_set){0};
}

/* `bytes` bytes of `source` in a new allocation; NULL stays NULL. */
static bool copy_bytes(void **copy, const void *source, size_t bytes) {
    *copy = NULL;
    if (source == NULL)
        return true;
    *copy = malloc(bytes > 0 ? bytes : 1);
    if (*copy == NULL)
        return false;
    memcpy(*copy, source, bytes);
    return true;
}

/* On failure `copy` is still fit for parameter_unset. */
static bool value_copy(struct parameter_value *copy, const struct parameter_value *value) {
    *copy = *value;
    copy->text = NULL;
    copy->integers = NULL;
    copy->texts = NULL;
    copy->matrix = NULL;
    void *text, *integers, *matrix;
    bool copied = copy_bytes(&text, value->text, value->text ? strlen(value->text) + 1 : 0);
    copied = copy_bytes(&integers, value->integers, value->count * sizeof *value->integers) && copied;
    copied =
        copy_bytes(&matrix, value->matrix, value->rows * value->columns * sizeof *value->matrix) && copied;
    copy->text = text;
    copy->integers = integers;
    copy->matrix = matrix;
    if (value->texts == NULL)
        return copied;
    copy->texts = calloc(value->count > 0 ? value->count : 1, sizeof *copy->texts);
    if (copy->texts == NULL)
        return false;
    for (size_t i = 0; i < value->count; i++) {
        copy->texts[i] = strdup(value->texts[i]);
        copied = copied && copy->texts[i] != NULL;
    }
    return copied;
}

bool parameter_set_copy(struct parameter_set *copy, const struct parameter_set *set, struct error *error) {
    if (!parameter_set_init(copy, set->declarations, set->count, error))
        return false;
    for (size_t i = 0; i < set->count; i++)
        if (!value_copy(&copy->values[i], &set->values[i])) {
            parameter_set_free(copy);
            return error_set_memory(error, set->count * sizeof *set->values);
        }
    return true;
}

int parameter_find(const struct parameter_set *set, const char *name) {
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->declarations[i].name, name) == 0)
            return (int)i;
    return -1;
}

static size_t minimum_of(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Levenshtein's distance by one row of the dynamic programme; names longer than the row are just far. */
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
        /* A beginning is near, however much is missing: "epoch" and "learning" are guesses worth answering.
         */
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

bool parameter_set_apply_defaults(struct parameter_set *set, struct error *error) {
    struct parameter_faults faults = {0};
    for (size_t i = 0; i < set->count; i++) {
        const struct parameter_declaration *declaration = &set->declarations[i];
        if (set->values[i].is_set || declaration->default_depends)
            continue;
        switch (declaration->type) {
        case PARAMETER_INTEGER:
        case PARAMETER_REAL:
            parameter_set_real(set, i, declaration->default_number, &faults);
            break;
        case PARAMETER_BOOLEAN:
            parameter_set_boolean(set, i, declaration->default_number != 0, &faults);
            break;
        case PARAMETER_CHOICE:
        case PARAMETER_TEXT:
        case PARAMETER_INTEGER_LIST:
        case PARAMETER_CHOICE_LIST:
            if (declaration->default_text != NULL)
                parameter_set_from_text(set, i, declaration->default_text, &faults);
            break;
        case PARAMETER_MATRIX:
            break;
        }
    }
    bool good = faults.count == 0 && !faults.out_of_memory;
    if (faults.out_of_memory)
        error_set_memory(error, sizeof *faults.items);
    else if (!good)
        error_set(error, ERROR_INTERNAL, "the default of %s breaks its own declaration: %s",
                  faults.items[0].field, faults.items[0].message);
    parameter_faults_free(&faults);
    return good;
}

const struct parameter_value *parameter_value(const struct parameter_set *set, const char *name) {
    int index = parameter_find(set, name);
    assert(index >= 0);
    return &set->values[index];
}

int64_t parameter_integer(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->integer;
}

double parameter_real(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->real;
}

bool parameter_boolean(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->boolean;
}

const char *parameter_text(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->text;
}

bool parameter_is_set(const struct parameter_set *set, const char *name) {
    return parameter_value(set, name)->is_set;
}
