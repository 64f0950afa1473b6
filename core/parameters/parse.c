/* Reads parameters from text: see parse.h. */
#include "core/parameters/parse.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

/* Whether `text` is one number and nothing else. */
static bool parse_real(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *skip_space(end) == '\0';
}

bool parameter_parse_integer(const char *text, int64_t *number) {
    char *end;
    double real;
    errno = 0;
    *number = strtoll(text, &end, 10);
    if (errno != 0 || end == text)
        return false;
    if (*skip_space(end) == '\0')
        return true;
    if (strspn(end, "0123456789.eE+-") != strlen(end) || !parse_real(text, &real) || real != floor(real) ||
        fabs(real) > PARAMETER_INTEGER_LIMIT)
        return false;
    *number = (int64_t)real;
    return true;
}

/* Splits a copy of `text` at its commas and strips the spaces around the members. Release *members and *copy
 * with free(). An empty text has no members. */
static bool split_members(const char *text, char **copy, char ***members, size_t *count) {
    size_t most = 1;
    for (const char *at = text; *at != '\0'; at++)
        most += *at == ',';
    *copy = strdup(text);
    *members = calloc(most, sizeof **members);
    *count = 0;
    if (*copy == NULL || *members == NULL)
        return false;
    if (*skip_space(text) == '\0')
        return true;
    char *next = *copy;
    while (next != NULL) {
        char *comma = strchr(next, ',');
        if (comma != NULL)
            *comma = '\0';
        while (isspace((unsigned char)*next))
            next++;
        size_t length = strlen(next);
        while (length > 0 && isspace((unsigned char)next[length - 1]))
            next[--length] = '\0';
        (*members)[(*count)++] = next;
        next = comma != NULL ? comma + 1 : NULL;
    }
    return true;
}

static bool set_integers_from_members(struct parameter_set *set, size_t index, char **members, size_t count,
                                      struct parameter_faults *faults) {
    int64_t *numbers = calloc(count > 0 ? count : 1, sizeof *numbers);
    if (numbers == NULL)
        return parameter_faults_add_memory(faults);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        good = parameter_parse_integer(members[i], &numbers[i]);
        if (!good)
            parameter_faults_add(faults, set->declarations[index].name,
                                 "member %zu must be a whole number; got \"%.40s\"", i + 1, members[i]);
    }
    good = good && parameter_set_integers(set, index, numbers, count, faults);
    free(numbers);
    return good;
}

static bool set_list_from_text(struct parameter_set *set, size_t index, const char *text,
                               struct parameter_faults *faults) {
    char *copy, **members;
    size_t count;
    bool good = split_members(text, &copy, &members, &count);
    if (!good)
        parameter_faults_add_memory(faults);
    else if (set->declarations[index].type == PARAMETER_INTEGER_LIST)
        good = set_integers_from_members(set, index, members, count, faults);
    else
        good = parameter_set_texts(set, index, (const char *const *)members, count, faults);
    free(members);
    free(copy);
    return good;
}

/* Consumes `wanted` and the spaces before it. */
static bool take_character(const char **at, char wanted) {
    *at = skip_space(*at);
    if (**at != wanted)
        return false;
    ++*at;
    return true;
}

struct matrix_text {
    float *numbers; /* owned by the caller; large enough for all numbers in the text */
    size_t count, rows, columns;
};

/* Parses one row: "[1, 0.5]". Returns NULL, or a message if the row is malformed. */
static const char *parse_row(const char **at, struct matrix_text *matrix) {
    size_t columns = 0;
    if (!take_character(at, '['))
        return "must be a matrix such as [[1,0],[0,1]]";
    if (!take_character(at, ']')) {
        do {
            char *end;
            matrix->numbers[matrix->count] = strtof(*at, &end);
            if (end == *at)
                return "must be a matrix of numbers such as [[1,0],[0,1]]";
            *at = end;
            matrix->count++;
            columns++;
        } while (take_character(at, ','));
        if (!take_character(at, ']'))
            return "must be a matrix such as [[1,0],[0,1]]: a ']' is missing";
    }
    if (matrix->rows > 0 && columns != matrix->columns)
        return "must be a matrix whose rows all have the same length";
    matrix->columns = columns;
    matrix->rows++;
    return NULL;
}

static const char *parse_matrix(const char *text, struct matrix_text *matrix) {
    const char *at = text;
    if (!take_character(&at, '['))
        return "must be a matrix such as [[1,0],[0,1]]";
    if (!take_character(&at, ']')) {
        do {
            const char *fault = parse_row(&at, matrix);
            if (fault != NULL)
                return fault;
        } while (take_character(&at, ','));
        if (!take_character(&at, ']'))
            return "must be a matrix such as [[1,0],[0,1]]: a ']' is missing";
    }
    return *skip_space(at) == '\0' ? NULL : "must be a matrix with nothing after it";
}

static bool set_matrix_from_text(struct parameter_set *set, size_t index, const char *text,
                                 struct parameter_faults *faults) {
    /* A number with its separator takes at least two characters. */
    struct matrix_text matrix = {.numbers = calloc(strlen(text) / 2 + 1, sizeof(float))};
    if (matrix.numbers == NULL)
        return parameter_faults_add_memory(faults);
    const char *fault = parse_matrix(text, &matrix);
    bool good = fault == NULL;
    if (good)
        good = parameter_set_matrix(set, index, matrix.numbers, matrix.rows, matrix.columns, faults);
    else
        parameter_faults_add(faults, set->declarations[index].name, "%s", fault);
    free(matrix.numbers);
    return good;
}

bool parameter_set_from_text(struct parameter_set *set, size_t index, const char *text,
                             struct parameter_faults *faults) {
    double real;
    int64_t integer;
    parameter_unset(set, index);
    switch (set->declarations[index].type) {
    case PARAMETER_INTEGER:
    case PARAMETER_REAL:
        if (set->declarations[index].type == PARAMETER_INTEGER && parameter_parse_integer(text, &integer))
            return parameter_set_integer(set, index, integer, faults);
        if (parse_real(text, &real))
            return parameter_set_real(set, index, real, faults);
        break;
    case PARAMETER_BOOLEAN:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
            return parameter_set_boolean(set, index, text[0] == 't', faults);
        break;
    case PARAMETER_CHOICE:
    case PARAMETER_TEXT:
        break;
    case PARAMETER_INTEGER_LIST:
    case PARAMETER_CHOICE_LIST:
        return set_list_from_text(set, index, text, faults);
    case PARAMETER_MATRIX:
        return set_matrix_from_text(set, index, text, faults);
    }
    return parameter_set_text(set, index, text, faults);
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
        error_set(error, ERROR_INTERNAL, "the default of %s violates its own declaration: %s",
                  faults.items[0].field, faults.items[0].message);
    parameter_faults_free(&faults);
    return good;
}
