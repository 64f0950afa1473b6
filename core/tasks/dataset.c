/* The user's files to data sets: see dataset.h. */
#include "core/tasks/dataset.h"

#include "core/tasks/delimited.h"
#include "core/tasks/tokenize.h"
#include "core/tasks/utf8.h"
#include "core/tasks/word_table.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A data set being read: its arrays grow, and the classes are numbered as they appear. */
struct builder {
    struct dataset *dataset;
    struct word_table *classes;
    size_t row_capacity, token_count, token_capacity;
};

/* A field as a message can show it: at most 40 bytes, cut between characters. */
struct excerpt {
    char text[44];
};

static struct excerpt excerpt_of(struct delimited_field field) {
    struct excerpt excerpt = {{0}};
    size_t used = 0;
    while (used < field.length) {
        uint32_t code_point = 0;
        size_t length = utf8_decode(field.bytes + used, field.length - used, &code_point);
        if (length == 0 || used + length > 40)
            break;
        memcpy(excerpt.text + used, field.bytes + used, length);
        used += length;
    }
    if (used < field.length)
        memcpy(excerpt.text + used, "...", 3);
    return excerpt;
}

static struct delimited_field trim(struct delimited_field field) {
    while (field.length > 0 && (field.bytes[0] == ' ' || field.bytes[0] == '\t')) {
        field.bytes++;
        field.length--;
    }
    while (field.length > 0 &&
           (field.bytes[field.length - 1] == ' ' || field.bytes[field.length - 1] == '\t'))
        field.length--;
    return field;
}

static bool field_is(struct delimited_field field, const char *name) {
    field = trim(field);
    return field.length == strlen(name) && strncasecmp(field.bytes, name, field.length) == 0;
}

static bool is_whole_number(const char *text, size_t length) {
    size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    for (size_t i = sign; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return length > sign && length < 18;
}

/* Gives an array room for `count` items; on a failure it stays as it was. */
static bool resize(void **items, size_t count, size_t item_size, struct error *error) {
    void *larger = realloc(*items, count * item_size);
    if (larger == NULL)
        return error_set_memory(error, count * item_size);
    *items = larger;
    return true;
}

/* Room for one more row in every array that has one entry a row. */
static bool reserve_row(struct builder *builder, struct error *error) {
    struct dataset *dataset = builder->dataset;
    if (dataset->row_count < builder->row_capacity)
        return true;
    size_t capacity = builder->row_capacity == 0 ? 256 : 2 * builder->row_capacity;
    if (!resize((void **)&dataset->labels, capacity, sizeof *dataset->labels, error))
        return false;
    if (dataset->kind == DATASET_NUMBERS) {
        if (!resize((void **)&dataset->values, capacity, dataset->sequence_length * sizeof *dataset->values,
                    error))
            return false;
    } else {
        if (!resize((void **)&dataset->texts, capacity, sizeof *dataset->texts, error) ||
            !resize((void **)&dataset->token_start, capacity + 1, sizeof *dataset->token_start, error))
            return false;
        dataset->token_start[dataset->row_count] = builder->token_count;
    }
    builder->row_capacity = capacity;
    return true;
}

static bool add_label(struct builder *builder, size_t line, struct delimited_field field,
                      struct error *error) {
    field = trim(field);
    if (field.length == 0)
        return error_set(error, ERROR_INVALID, "line %zu: the label is empty", line);
    if (field.length > DATASET_LABEL_BYTES)
        return error_set(error, ERROR_INVALID, "line %zu: the label \"%s\" is longer than %d bytes", line,
                         excerpt_of(field).text, DATASET_LABEL_BYTES);
    size_t number = word_table_add(builder->classes, field.bytes, field.length);
    if (number == WORD_TABLE_NONE)
        return error_set_memory(error, field.length + 1);
    if (number >= DATASET_CLASS_LIMIT)
        return error_set(error, ERROR_INVALID,
                         "line %zu: the label \"%s\" would be class %zu; at most %d are allowed", line,
                         excerpt_of(field).text, number + 1, DATASET_CLASS_LIMIT);
    builder->dataset->labels[builder->dataset->row_count] = (int32_t)number;
    return true;
}

static bool add_token(void *owner, const char *token, size_t length) {
    struct builder *builder = owner;
    struct dataset *dataset = builder->dataset;
    if (builder->token_count == builder->token_capacity) {
        size_t capacity = builder->token_capacity == 0 ? 4096 : 2 * builder->token_capacity;
        if (!resize((void **)&dataset->tokens, capacity, sizeof *dataset->tokens, NULL))
            return false;
        builder->token_capacity = capacity;
    }
    size_t number = word_table_add(dataset->words, token, length);
    if (number == WORD_TABLE_NONE)
        return false;
    dataset->tokens[builder->token_count++] = word_table_word(dataset->words, number);
    return true;
}

static bool add_text_row(struct builder *builder, size_t line, struct delimited_field text,
                         struct delimited_field label, struct error *error) {
    struct dataset *dataset = builder->dataset;
    text = trim(text);
    if (!reserve_row(builder, error) || !add_label(builder, line, label, error))
        return false;
    size_t first_token = builder->token_count;
    if (!tokenize_text(text.bytes, text.length, add_token, builder))
        return error_set_memory(error, text.length);
    if (builder->token_count == first_token)
        return error_set(error, ERROR_INVALID, "line %zu: the text is empty", line);
    char *copy = malloc(text.length + 1);
    if (copy == NULL)
        return error_set_memory(error, text.length + 1);
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    dataset->texts[dataset->row_count++] = copy;
    dataset->token_start[dataset->row_count] = builder->token_count;
    return true;
}

static bool parse_number(struct delimited_field field, float *value) {
    char text[64];
    field = trim(field);
    if (field.length == 0 || field.length >= sizeof text)
        return false;
    memcpy(text, field.bytes, field.length);
    text[field.length] = '\0';
    if (strspn(text, "0123456789+-.eE") != field.length)
        return false;
    char *end = NULL;
    *value = strtof(text, &end);
    return *end == '\0' && isfinite(*value);
}

static bool add_number_row(struct builder *builder, const struct delimited_reader *reader,
                           size_t label_column, struct error *error) {
    struct dataset *dataset = builder->dataset;
    size_t line = reader->record_line;
    if (!reserve_row(builder, error) || !add_label(builder, line, reader->fields[label_column], error))
        return false;
    float *row = dataset->values + dataset->row_count * dataset->sequence_length;
    for (size_t column = 0; column < reader->field_count; column++) {
        if (column == label_column)
            continue;
        if (!parse_number(reader->fields[column], row++))
            return error_set(error, ERROR_INVALID, "line %zu, column %zu: \"%s\" is not a finite number",
                             line, column + 1, excerpt_of(reader->fields[column]).text);
    }
    dataset->row_count++;
    return true;
}

static int compare_as_text(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int compare_as_numbers(const void *left, const void *right) {
    long long a = atoll(*(char *const *)left), b = atoll(*(char *const *)right);
    return a != b ? (a > b) - (a < b) : compare_as_text(left, right);
}

/* Sorts the classes and renumbers the labels, so that classes do not depend on the order of the rows. */
static bool sort_classes(struct builder *builder, struct error *error) {
    struct dataset *dataset = builder->dataset;
    size_t count = word_table_count(builder->classes);
    dataset->class_names = calloc(count, sizeof *dataset->class_names);
    if (dataset->class_names == NULL)
        return error_set_memory(error, count * sizeof *dataset->class_names);
    bool are_numbers = true;
    for (size_t i = 0; i < count; i++) {
        const char *name = word_table_word(builder->classes, i);
        are_numbers = are_numbers && is_whole_number(name, strlen(name));
        dataset->class_names[i] = strdup(name);
        if (dataset->class_names[i] == NULL)
            return error_set_memory(error, strlen(name) + 1);
        dataset->class_count = i + 1;
    }
    qsort(dataset->class_names, count, sizeof *dataset->class_names,
          are_numbers ? compare_as_numbers : compare_as_text);
    int32_t new_number[DATASET_CLASS_LIMIT];
    for (size_t i = 0; i < count; i++) {
        const char *name = dataset->class_names[i];
        new_number[word_table_find(builder->classes, name, strlen(name))] = (int32_t)i;
    }
    for (size_t i = 0; i < dataset->row_count; i++)
        dataset->labels[i] = new_number[dataset->labels[i]];
    return true;
}

static bool builder_start(struct builder *builder, enum dataset_kind kind, size_t sequence_length,
                          struct error *error) {
    memset(builder, 0, sizeof *builder);
    builder->dataset = calloc(1, sizeof *builder->dataset);
    builder->classes = word_table_new();
    if (builder->dataset == NULL || builder->classes == NULL)
        return error_set_memory(error, sizeof *builder->dataset);
    builder->dataset->kind = kind;
    builder->dataset->sequence_length = sequence_length;
    builder->dataset->words = word_table_new();
    return builder->dataset->words != NULL || error_set_memory(error, sizeof(struct dataset));
}

/* Takes the finished data set out of the builder, or NULL where reading it failed. */
static struct dataset *builder_finish(struct builder *builder, bool succeeded, struct error *error) {
    struct dataset *dataset = builder->dataset;
    if (succeeded && dataset->row_count == 0)
        succeeded = error_set(error, ERROR_INVALID, "the file has no rows");
    if (succeeded && dataset->row_count == 1)
        succeeded =
            error_set(error, ERROR_INVALID,
                      "the file has one row only; at least two are needed, one to train on and one to test");
    if (succeeded && word_table_count(builder->classes) == 1)
        succeeded =
            error_set(error, ERROR_INVALID, "every row has the label \"%s\"; at least two classes are needed",
                      word_table_word(builder->classes, 0));
    if (succeeded) {
        succeeded = sort_classes(builder, error);
        dataset->word_count = word_table_count(dataset->words);
    }
    word_table_free(builder->classes);
    if (!succeeded) {
        dataset_free(dataset);
        return NULL;
    }
    return dataset;
}

/* What the first line of a CSV says. */
struct csv_header {
    size_t column_count, label_column, text_column;
    bool has_text;
};

static bool read_csv_header(struct delimited_reader *reader, struct csv_header *header, struct error *error) {
    if (!delimited_next(reader, error))
        return error_set(error, ERROR_INVALID, "the file is empty");
    bool has_label = false;
    header->column_count = reader->field_count;
    for (size_t column = 0; column < reader->field_count; column++) {
        bool is_label = field_is(reader->fields[column], "label");
        bool is_text = field_is(reader->fields[column], "text");
        if ((is_label && has_label) || (is_text && header->has_text))
            return error_set(error, ERROR_INVALID, "line %zu: the header names the column \"%s\" twice",
                             reader->record_line, is_label ? "label" : "text");
        if (is_label)
            header->label_column = column;
        if (is_text)
            header->text_column = column;
        has_label = has_label || is_label;
        header->has_text = header->has_text || is_text;
    }
    if (!has_label)
        return error_set(
            error, ERROR_INVALID,
            "line %zu: the header has no column \"label\"; it must be text,label or name columns of "
            "numbers and a label column",
            reader->record_line);
    if (header->column_count < 2 || (header->has_text && header->column_count > 2))
        return error_set(error, ERROR_INVALID,
                         "line %zu: beside the label there must be one column \"text\" or columns of numbers",
                         reader->record_line);
    return true;
}

static bool check_field_count(const struct delimited_reader *reader, size_t expected, struct error *error) {
    return reader->field_count == expected ||
           error_set(error, ERROR_INVALID, "line %zu: %zu field%s where %zu are expected",
                     reader->record_line, reader->field_count, reader->field_count == 1 ? "" : "s", expected);
}

struct dataset *dataset_parse_csv(const char *bytes, size_t size, struct error *error) {
    struct error own = {0};
    if (error == NULL)
        error = &own;
    struct delimited_reader reader;
    struct csv_header header = {0};
    struct builder builder = {0};
    bool succeeded =
        delimited_open(&reader, bytes, size, ',', error) && read_csv_header(&reader, &header, error);
    if (succeeded)
        succeeded = builder_start(&builder, header.has_text ? DATASET_TEXT : DATASET_NUMBERS,
                                  header.has_text ? 0 : header.column_count - 1, error);
    while (succeeded && delimited_next(&reader, error)) {
        succeeded = check_field_count(&reader, header.column_count, error);
        if (succeeded && header.has_text)
            succeeded = add_text_row(&builder, reader.record_line, reader.fields[header.text_column],
                                     reader.fields[header.label_column], error);
        else if (succeeded)
            succeeded = add_number_row(&builder, &reader, header.label_column, error);
    }
    delimited_close(&reader);
    return builder_finish(&builder, succeeded && error->code == ERROR_NONE, error);
}

/* What decides whether a column of a TSV holds labels. */
struct column_survey {
    struct word_table *values;
    size_t bytes;
    bool can_be_label, is_whole;
};

static bool survey_field(struct column_survey *survey, struct delimited_field field, struct error *error) {
    field = trim(field);
    survey->bytes += field.length;
    if (field.length > DATASET_LABEL_BYTES)
        survey->can_be_label = false;
    if (!survey->can_be_label)
        return true;
    survey->is_whole = survey->is_whole && is_whole_number(field.bytes, field.length);
    if (word_table_add(survey->values, field.bytes, field.length) == WORD_TABLE_NONE)
        return error_set_memory(error, field.length + 1);
    survey->can_be_label = word_table_count(survey->values) <= DATASET_CLASS_LIMIT;
    return true;
}

static bool is_better_label(const struct column_survey *candidate, const struct column_survey *other) {
    if (candidate->can_be_label != other->can_be_label)
        return candidate->can_be_label;
    if (candidate->is_whole != other->is_whole)
        return candidate->is_whole;
    size_t count = word_table_count(candidate->values), other_count = word_table_count(other->values);
    return count != other_count ? count < other_count : candidate->bytes < other->bytes;
}

/* Whether the record is a header line; *label_column is then what it says. */
static bool is_tsv_header(const struct delimited_reader *reader, size_t *label_column) {
    for (size_t column = 0; column < 2; column++) {
        if (reader->field_count == 2 && field_is(reader->fields[column], "label") &&
            field_is(reader->fields[1 - column], "text")) {
            *label_column = column;
            return true;
        }
    }
    return false;
}

/* Reads the whole file once to find the column of the labels. */
static bool find_label_column(const char *bytes, size_t size, size_t *label_column, bool *has_header,
                              struct error *error) {
    struct column_survey surveys[2] = {{word_table_new(), 0, true, true}, {word_table_new(), 0, true, true}};
    struct delimited_reader reader;
    bool succeeded = delimited_open(&reader, bytes, size, '\t', error);
    if (surveys[0].values == NULL || surveys[1].values == NULL)
        succeeded = error_set_memory(error, sizeof surveys);
    for (size_t row = 0; succeeded && !*has_header && delimited_next(&reader, error); row++) {
        succeeded = check_field_count(&reader, 2, error);
        if (succeeded && row == 0)
            *has_header = is_tsv_header(&reader, label_column);
        for (size_t column = 0; succeeded && column < 2; column++)
            succeeded = survey_field(&surveys[column], reader.fields[column], error);
    }
    if (succeeded && !*has_header) {
        *label_column = is_better_label(&surveys[1], &surveys[0]);
        if (!surveys[*label_column].can_be_label)
            succeeded =
                error_set(error, ERROR_INVALID,
                          "neither column holds labels: both have more than %d different values or one "
                          "longer than %d bytes",
                          DATASET_CLASS_LIMIT, DATASET_LABEL_BYTES);
    }
    delimited_close(&reader);
    word_table_free(surveys[0].values);
    word_table_free(surveys[1].values);
    return succeeded && error->code == ERROR_NONE;
}

struct dataset *dataset_parse_tsv(const char *bytes, size_t size, struct error *error) {
    struct error own = {0};
    if (error == NULL)
        error = &own;
    struct delimited_reader reader = {0};
    struct builder builder = {0};
    size_t label_column = 0;
    bool has_header = false;
    bool succeeded = find_label_column(bytes, size, &label_column, &has_header, error) &&
                     delimited_open(&reader, bytes, size, '\t', error) &&
                     builder_start(&builder, DATASET_TEXT, 0, error);
    if (succeeded && has_header)
        succeeded = delimited_next(&reader, error);
    while (succeeded && delimited_next(&reader, error))
        succeeded = check_field_count(&reader, 2, error) &&
                    add_text_row(&builder, reader.record_line, reader.fields[1 - label_column],
                                 reader.fields[label_column], error);
    delimited_close(&reader);
    return builder_finish(&builder, succeeded && error->code == ERROR_NONE, error);
}

void dataset_free(struct dataset *dataset) {
    if (dataset == NULL)
        return;
    for (size_t i = 0; i < dataset->class_count; i++)
        free(dataset->class_names[i]);
    for (size_t i = 0; dataset->texts != NULL && i < dataset->row_count; i++)
        free(dataset->texts[i]);
    word_table_free(dataset->words);
    free(dataset->class_names);
    free(dataset->labels);
    free(dataset->values);
    free(dataset->texts);
    free(dataset->token_start);
    free(dataset->tokens);
    free(dataset);
}
