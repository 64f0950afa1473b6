/* Parameters read from JSON and written as JSON: see json_parameters.h. */
#include "server/formats/json_parameters.h"

#include "core/parameters/parse.h"
#include "server/formats/json_writer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_reserved(const char *const *reserved, const char *name) {
    for (; reserved && *reserved; reserved++)
        if (strcmp(*reserved, name) == 0)
            return true;
    return false;
}

void json_add_unknown_fault(const char *field, const struct parameter_set *set, const char *const *reserved,
                            struct parameter_faults *faults) {
    const char *nearest = parameter_nearest_name(set->declarations, set->count, field);
    if (nearest) {
        parameter_faults_add(faults, field, "is not known; did you mean %s?", nearest);
        return;
    }
    struct text known = {0};
    for (size_t i = 0; i < set->count; i++)
        text_append_format(&known, "%s%s", known.length ? ", " : "", set->declarations[i].name);
    for (; reserved && *reserved; reserved++)
        text_append_format(&known, "%s%s", known.length ? ", " : "", *reserved);
    parameter_faults_add(faults, field, "is not known (known: %s)", known.length ? known.bytes : "none");
    text_free(&known);
}

/* "must be a whole number; got [3]": the value as JSON, shortened. */
static void add_type_fault(const struct parameter_declaration *declaration, const json_t *value,
                           struct parameter_faults *faults) {
    enum { GIVEN_MAXIMUM = 60 };
    static const char dots[] = "...";
    char *given = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);
    if (given && strlen(given) > GIVEN_MAXIMUM)
        memcpy(given + GIVEN_MAXIMUM - strlen(dots), dots, sizeof dots);
    parameter_faults_add_type(faults, declaration, given ? given : "something else");
    free(given);
}

bool json_read_integer(const json_t *value, int64_t *integer) {
    if (json_is_integer(value)) {
        *integer = json_integer_value(value);
        return true;
    }
    double real = json_real_value(value);
    if (!json_is_real(value) || real != floor(real) || fabs(real) > PARAMETER_INTEGER_LIMIT)
        return false;
    *integer = (int64_t)real;
    return true;
}

static bool read_integer_list(struct parameter_set *set, size_t index, const json_t *value,
                              struct parameter_faults *faults) {
    size_t count = json_array_size(value);
    int64_t *integers = calloc(count + 1, sizeof *integers);
    bool is_list = integers && json_is_array(value);
    faults->out_of_memory |= !integers;
    for (size_t i = 0; is_list && i < count; i++)
        is_list = json_read_integer(json_array_get(value, i), &integers[i]);
    if (is_list)
        parameter_set_integers(set, index, integers, count, faults);
    free(integers);
    return is_list;
}

static bool read_text_list(struct parameter_set *set, size_t index, const json_t *value,
                           struct parameter_faults *faults) {
    size_t count = json_array_size(value);
    const char **texts = calloc(count + 1, sizeof *texts);
    bool is_list = texts && json_is_array(value);
    faults->out_of_memory |= !texts;
    for (size_t i = 0; is_list && i < count; i++) {
        texts[i] = json_string_value(json_array_get(value, i));
        is_list = texts[i] != NULL;
    }
    if (is_list)
        parameter_set_texts(set, index, texts, count, faults);
    free(texts);
    return is_list;
}

/* Copies a row of numbers; false if it does not have exactly `columns` numbers. */
static bool read_row(const json_t *row, size_t columns, float *values) {
    if (!json_is_array(row) || json_array_size(row) != columns)
        return false;
    for (size_t j = 0; j < columns; j++) {
        const json_t *number = json_array_get(row, j);
        if (!json_is_number(number))
            return false;
        values[j] = (float)json_number_value(number);
    }
    return true;
}

static bool read_matrix(struct parameter_set *set, size_t index, const json_t *value,
                        struct parameter_faults *faults) {
    size_t rows = json_array_size(value);
    size_t columns = json_array_size(json_array_get(value, 0));
    size_t most = set->declarations[index].length_maximum;
    if (rows == 0 || columns == 0)
        return false;
    if (most > 0 && (rows > most || columns > most)) {
        parameter_faults_add(faults, set->declarations[index].name,
                             "must have at most %zu rows and columns; got %zu x %zu", most, rows, columns);
        return true;
    }
    float *matrix = calloc(rows * columns, sizeof *matrix);
    bool is_matrix = matrix != NULL;
    faults->out_of_memory |= !matrix;
    for (size_t i = 0; is_matrix && i < rows; i++)
        is_matrix = read_row(json_array_get(value, i), columns, matrix + i * columns);
    if (is_matrix)
        parameter_set_matrix(set, index, matrix, rows, columns, faults);
    free(matrix);
    return is_matrix;
}

static void read_value(struct parameter_set *set, size_t index, const json_t *value,
                       struct parameter_faults *faults) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    int64_t integer;
    bool is_expected = false;
    switch (declaration->type) {
    case PARAMETER_INTEGER:
        is_expected = json_read_integer(value, &integer);
        if (is_expected)
            parameter_set_integer(set, index, integer, faults);
        break;
    case PARAMETER_REAL:
        is_expected = json_is_number(value);
        if (is_expected)
            parameter_set_real(set, index, json_number_value(value), faults);
        break;
    case PARAMETER_BOOLEAN:
        is_expected = json_is_boolean(value);
        if (is_expected)
            parameter_set_boolean(set, index, json_is_true(value), faults);
        break;
    case PARAMETER_CHOICE:
    case PARAMETER_TEXT:
        is_expected = json_is_string(value);
        if (is_expected)
            parameter_set_text(set, index, json_string_value(value), faults);
        break;
    case PARAMETER_INTEGER_LIST:
        is_expected = read_integer_list(set, index, value, faults);
        break;
    case PARAMETER_CHOICE_LIST:
        is_expected = read_text_list(set, index, value, faults);
        break;
    case PARAMETER_MATRIX:
        is_expected = read_matrix(set, index, value, faults);
        break;
    }
    if (!is_expected)
        add_type_fault(declaration, value, faults);
}

void json_read_parameters(const json_t *object, const char *const *reserved, struct parameter_set *set,
                          struct parameter_faults *faults) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value) {
        if (is_reserved(reserved, name))
            continue;
        int index = parameter_find(set, name);
        if (index < 0)
            json_add_unknown_fault(name, set, reserved, faults);
        else
            read_value(set, (size_t)index, value, faults);
    }
}

static void write_value(struct text *text, const struct parameter_declaration *declaration,
                        const struct parameter_value *value) {
    struct result_sink sink = json_result_sink(text);
    switch (declaration->type) {
    case PARAMETER_INTEGER:
        json_write_integer(text, declaration->name, value->integer);
        break;
    case PARAMETER_REAL:
        json_write_number(text, declaration->name, value->real);
        break;
    case PARAMETER_BOOLEAN:
        json_write_boolean(text, declaration->name, value->boolean);
        break;
    case PARAMETER_CHOICE:
    case PARAMETER_TEXT:
        json_write_string(text, declaration->name, value->text);
        break;
    case PARAMETER_INTEGER_LIST:
        result_integers(&sink, declaration->name, value->integers, value->count);
        break;
    case PARAMETER_CHOICE_LIST:
        json_write_begin_array(text, declaration->name);
        for (size_t i = 0; i < value->count; i++)
            json_write_string(text, NULL, value->texts[i]);
        json_write_end_array(text);
        break;
    case PARAMETER_MATRIX:
        result_matrix(&sink, declaration->name, value->matrix, value->rows, value->columns);
        break;
    }
}

void json_write_parameters(struct text *text, const char *key, const struct parameter_set *set) {
    json_write_begin_object(text, key);
    for (size_t i = 0; i < set->count; i++)
        if (set->values[i].is_set)
            write_value(text, &set->declarations[i], &set->values[i]);
    json_write_end_object(text);
}

void json_write_parameter_value(struct text *text, const struct parameter_declaration *declaration,
                                const char *value) {
    struct parameter_set set = {0};
    struct parameter_faults faults = {0};
    if (parameter_set_init(&set, declaration, 1, NULL) && parameter_set_from_text(&set, 0, value, &faults))
        write_value(text, declaration, &set.values[0]);
    else
        text->failed = true;
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}

bool json_restore_parameters(const char *stored, const struct parameter_declaration *declarations,
                             size_t count, struct parameter_set *set, struct error *error) {
    struct parameter_faults faults = {0};
    if (!parameter_set_init(set, declarations, count, error))
        return false;
    json_t *object = json_loads(stored, 0, NULL);
    bool ok = object != NULL || error_set(error, ERROR_INVALID, "its parameters cannot be read");
    if (ok)
        json_read_parameters(object, NULL, set, &faults);
    if (faults.count > 0)
        ok = error_set(error, ERROR_INVALID, "this version of attnlab does not accept its parameters: %s: %s",
                       faults.items[0].field, faults.items[0].message);
    if (faults.out_of_memory)
        ok = error_set_memory(error, sizeof *set);
    parameter_faults_free(&faults);
    json_decref(object);
    return ok;
}
