/* Labelled sequences for training models.
 *
 * A dataset holds examples of one kind, either numbers (rows of T values) or text (sentences split into
 * tokens), each with a class label. The user's data sets are parsed from CSV or TSV bytes (dataset_parse.h),
 * drawn sentences are built row by row (dataset_builder.h). A task (task.h) splits a data set, builds the
 * vocabulary and pads, so that a training run, the examples shown over HTTP and a prediction all see the same
 * numbers. */
#ifndef ATTNLAB_CORE_TASKS_DATASET_H
#define ATTNLAB_CORE_TASKS_DATASET_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dataset_kind { DATASET_NUMBERS, DATASET_TEXT };

/* The user's rows as parsed: not yet split, and without a vocabulary. Immutable once made, so threads may
 * share it. */
struct dataset {
    enum dataset_kind kind;
    size_t row_count;
    size_t class_count;
    char **class_names; /* [class_count] as written in the file; labels are indices into it */
    int32_t *labels;    /* [row_count] */
    /* NUMBERS: values[row_count][sequence_length]. */
    size_t sequence_length;
    float *values;
    /* TEXT: the row's text as written, and its tokens: tokens[token_start[i] .. token_start[i + 1]). */
    char **texts;
    size_t *token_start; /* [row_count + 1] */
    char **tokens;
    size_t word_count;        /* distinct tokens over all rows */
    size_t text_bytes;        /* of all rows */
    struct word_table *words; /* owns the strings that `tokens` points to */
};

/* The most classes a data set may have, and the most bytes of a label. */
enum { DATASET_CLASS_LIMIT = 100, DATASET_LABEL_BYTES = 64 };

/* The largest magnitude of a number in a row. Attention's scores are products of two such numbers and must
 * stay within float32's range; otherwise a model's answer would consist of infinities. */
static const float dataset_number_limit = 1e15F;

/* The bytes that a row of text takes in a data set, while its arrays grow. */
double dataset_row_bytes(double tokens, double text_bytes);

void dataset_free(struct dataset *dataset);

#endif
