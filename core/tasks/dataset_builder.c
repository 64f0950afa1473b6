/* Builds a data set row by row: see dataset_builder.h. */
#include "core/tasks/dataset_builder.h"

#include "core/tasks/tokenize.h"
#include "core/tasks/word_table.h"

#include <stdlib.h>
#include <string.h>

bool dataset_builder_start(struct dataset_builder *builder, enum dataset_kind kind, size_t sequence_length,
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

bool dataset_builder_add_class(struct dataset_builder *builder, const char *name, struct error *error) {
    return word_table_add(builder->classes, name, strlen(name)) != WORD_TABLE_NONE ||
           error_set_memory(error, strlen(name) + 1);
}

/* Grows an array to `count` items; on failure it stays unchanged. */
static bool resize(void **items, size_t count, size_t item_size, struct error *error) {
    void *larger = realloc(*items, count * item_size);
    if (larger == NULL)
        return error_set_memory(error, count * item_size);
    *items = larger;
    return true;
}

/* Makes room for one more row in every array that has an entry per row. */
static bool reserve_row(struct dataset_builder *builder, struct error *error) {
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

static bool add_label(struct dataset_builder *builder, size_t line, struct delimited_field field,
                      struct error *error) {
    field = delimited_trim(field);
    if (field.length == 0)
        return error_set(error, ERROR_INVALID, "line %zu: the label is empty", line);
    if (field.length > DATASET_LABEL_BYTES)
        return error_set(error, ERROR_INVALID, "line %zu: the label \"%s\" is longer than %d bytes", line,
                         delimited_excerpt_of(field).text, DATASET_LABEL_BYTES);
    size_t number = word_table_add(builder->classes, field.bytes, field.length);
    if (number == WORD_TABLE_NONE)
        return error_set_memory(error, field.length + 1);
    if (number >= DATASET_CLASS_LIMIT)
        return error_set(error, ERROR_INVALID,
                         "line %zu: the label \"%s\" would be class %zu; at most %d are allowed", line,
                         delimited_excerpt_of(field).text, number + 1, DATASET_CLASS_LIMIT);
    builder->dataset->labels[builder->dataset->row_count] = (int32_t)number;
    return true;
}

static bool add_token(void *owner, const char *token, size_t length) {
    struct dataset_builder *builder = owner;
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

bool dataset_builder_add_text(struct dataset_builder *builder, size_t line, struct delimited_field text,
                              struct delimited_field label, struct error *error) {
    struct dataset *dataset = builder->dataset;
    text = delimited_trim(text);
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
    dataset->text_bytes += text.length;
    dataset->texts[dataset->row_count++] = copy;
    dataset->token_start[dataset->row_count] = builder->token_count;
    return true;
}

float *dataset_builder_begin_numbers(struct dataset_builder *builder, size_t line,
                                     struct delimited_field label, struct error *error) {
    struct dataset *dataset = builder->dataset;
    if (!reserve_row(builder, error) || !add_label(builder, line, label, error))
        return NULL;
    return dataset->values + dataset->row_count * dataset->sequence_length;
}

void dataset_builder_end_numbers(struct dataset_builder *builder) {
    builder->dataset->row_count++;
}

static int compare_as_text(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int compare_as_numbers(const void *left, const void *right) {
    long long a = strtoll(*(char *const *)left, NULL, 10), b = strtoll(*(char *const *)right, NULL, 10);
    return a != b ? (a > b) - (a < b) : compare_as_text(left, right);
}

/* Sorts the classes and renumbers the labels, so that classes do not depend on the order of the rows. */
static bool sort_classes(struct dataset_builder *builder, struct error *error) {
    struct dataset *dataset = builder->dataset;
    size_t count = word_table_count(builder->classes);
    dataset->class_names = calloc(count, sizeof *dataset->class_names);
    if (dataset->class_names == NULL)
        return error_set_memory(error, count * sizeof *dataset->class_names);
    bool are_numbers = true;
    for (size_t i = 0; i < count; i++) {
        const char *name = word_table_word(builder->classes, i);
        are_numbers = are_numbers && delimited_is_whole_number((struct delimited_field){name, strlen(name)});
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

/* Checks what can make a file useless although every row is valid. */
static bool check_size(const struct dataset_builder *builder, struct error *error) {
    if (builder->dataset->row_count == 0)
        return error_set(error, ERROR_INVALID, "the file has no rows");
    if (builder->dataset->row_count == 1)
        return error_set(
            error, ERROR_INVALID,
            "the file has only one row; at least two are needed, one to train on and one to test on");
    if (word_table_count(builder->classes) == 1)
        return error_set(error, ERROR_INVALID,
                         "every row has the label \"%s\"; at least two classes are needed",
                         word_table_word(builder->classes, 0));
    return true;
}

struct dataset *dataset_builder_finish(struct dataset_builder *builder, bool succeeded, struct error *error) {
    struct dataset *dataset = builder->dataset;
    if (succeeded)
        succeeded = check_size(builder, error) && sort_classes(builder, error);
    if (succeeded)
        dataset->word_count = word_table_count(dataset->words);
    word_table_free(builder->classes);
    memset(builder, 0, sizeof *builder);
    if (succeeded)
        return dataset;
    dataset_free(dataset);
    return NULL;
}
