/* Parses the user's files into data sets: see dataset_parse.h. */
#include "core/tasks/dataset_parse.h"

#include "core/tasks/dataset_builder.h"
#include "core/tasks/delimited.h"
#include "core/tasks/word_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns that the first line of a CSV file declares. */
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
        bool is_label = delimited_field_is(reader->fields[column], "label");
        bool is_text = delimited_field_is(reader->fields[column], "text");
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
        return error_set(
            error, ERROR_INVALID,
            "line %zu: besides the label there must be one column \"text\" or columns of numbers",
            reader->record_line);
    return true;
}

static bool check_field_count(const struct delimited_reader *reader, size_t expected, struct error *error) {
    return reader->field_count == expected ||
           error_set(error, ERROR_INVALID, "line %zu: expected %zu fields, found %zu", reader->record_line,
                     expected, reader->field_count);
}

static bool parse_number(struct delimited_field field, float *value) {
    char text[64];
    field = delimited_trim(field);
    if (field.length == 0 || field.length >= sizeof text)
        return false;
    memcpy(text, field.bytes, field.length);
    text[field.length] = '\0';
    if (strspn(text, "0123456789+-.eE") != field.length)
        return false;
    char *end = NULL;
    *value = strtof(text, &end);
    return *end == '\0' && fabsf(*value) <= dataset_number_limit; /* false for NaN */
}

static bool add_number_row(struct dataset_builder *builder, const struct delimited_reader *reader,
                           size_t label_column, struct error *error) {
    size_t line = reader->record_line;
    float *row = dataset_builder_begin_numbers(builder, line, reader->fields[label_column], error);
    if (row == NULL)
        return false;
    for (size_t column = 0; column < reader->field_count; column++) {
        if (column == label_column)
            continue;
        if (!parse_number(reader->fields[column], row++))
            return error_set(error, ERROR_INVALID,
                             "line %zu, column %zu: \"%s\" is not a number from -1e15 to 1e15", line,
                             column + 1, delimited_excerpt_of(reader->fields[column]).text);
    }
    dataset_builder_end_numbers(builder);
    return true;
}

struct dataset *dataset_parse_csv(const char *bytes, size_t size, struct error *error) {
    struct error own = {0};
    if (error == NULL)
        error = &own;
    struct delimited_reader reader;
    struct csv_header header = {0};
    struct dataset_builder builder = {0};
    bool succeeded =
        delimited_open(&reader, bytes, size, ',', error) && read_csv_header(&reader, &header, error);
    if (succeeded)
        succeeded = dataset_builder_start(&builder, header.has_text ? DATASET_TEXT : DATASET_NUMBERS,
                                          header.has_text ? 0 : header.column_count - 1, error);
    while (succeeded && delimited_next(&reader, error)) {
        succeeded = check_field_count(&reader, header.column_count, error);
        if (succeeded && header.has_text)
            succeeded =
                dataset_builder_add_text(&builder, reader.record_line, reader.fields[header.text_column],
                                         reader.fields[header.label_column], error);
        else if (succeeded)
            succeeded = add_number_row(&builder, &reader, header.label_column, error);
    }
    delimited_close(&reader);
    return dataset_builder_finish(&builder, succeeded && error->code == ERROR_NONE, error);
}

/* Collected to decide whether a column of a TSV file holds labels. */
struct column_survey {
    struct word_table *values;
    size_t bytes;
    bool can_be_label, is_whole;
};

static bool survey_field(struct column_survey *survey, struct delimited_field field, struct error *error) {
    field = delimited_trim(field);
    survey->bytes += field.length;
    if (field.length > DATASET_LABEL_BYTES)
        survey->can_be_label = false;
    if (!survey->can_be_label)
        return true;
    survey->is_whole = survey->is_whole && delimited_is_whole_number(field);
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

/* Whether the record is a header line; if so, sets *label_column. */
static bool is_tsv_header(const struct delimited_reader *reader, size_t *label_column) {
    for (size_t column = 0; column < 2; column++) {
        if (reader->field_count == 2 && delimited_field_is(reader->fields[column], "label") &&
            delimited_field_is(reader->fields[1 - column], "text")) {
            *label_column = column;
            return true;
        }
    }
    return false;
}

/* Reads the whole file once to find the column with the labels. */
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
                          "neither column can be the labels: each has more than %d different values or a "
                          "value longer than %d bytes",
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
    struct dataset_builder builder = {0};
    size_t label_column = 0;
    bool has_header = false;
    bool succeeded = find_label_column(bytes, size, &label_column, &has_header, error) &&
                     delimited_open(&reader, bytes, size, '\t', error) &&
                     dataset_builder_start(&builder, DATASET_TEXT, 0, error);
    if (succeeded && has_header)
        succeeded = delimited_next(&reader, error);
    while (succeeded && delimited_next(&reader, error))
        succeeded = check_field_count(&reader, 2, error) &&
                    dataset_builder_add_text(&builder, reader.record_line, reader.fields[1 - label_column],
                                             reader.fields[label_column], error);
    delimited_close(&reader);
    return dataset_builder_finish(&builder, succeeded && error->code == ERROR_NONE, error);
}
