/* Labelled sequences: what models are trained on.
 *
 * A dataset holds examples of one kind, numbers (rows of T values) or text (sentences split into tokens),
 * each with a class label. Drawn tasks (first-element, reviews) make one from a numpy stream; the user's own
 * come from CSV or TSV bytes. Splitting, the vocabulary and padding happen here, so that a training run, the
 * examples shown over HTTP and a prediction see the very same numbers. */
#ifndef ATTNLAB_CORE_TASKS_DATASET_H
#define ATTNLAB_CORE_TASKS_DATASET_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dataset_kind { DATASET_NUMBERS, DATASET_TEXT };

/* The user's rows as parsed: not yet split, no vocabulary. Immutable once made; may be shared by threads. */
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
    struct word_table *words; /* owns what `tokens` points to */
};

/* The most classes a data set may have, and the most bytes of a label. */
enum { DATASET_CLASS_LIMIT = 100, DATASET_LABEL_BYTES = 64 };

/* The largest number a row may hold, either way: products of two such numbers, which attention's scores are,
 * stay within float32's range; beyond it a model's answer would be made of infinities. */
static const float dataset_number_limit = 1e15F;

/* Parses `size` bytes of CSV (RFC 4180: a header `text,label`, or numbers with a `label` column) or TSV
 * (`label<TAB>text` or `text<TAB>label`, a header line of these names is skipped). UTF-8, a byte order mark
 * and CRLF are accepted, empty lines skipped. A bad row is an ERROR_INVALID that names its line. At least two
 * rows and two classes; classes are numbered in numeric order where all are whole numbers, else in byte
 * order. Free with dataset_free.
 *
 * Which column of a TSV holds the labels is decided from the whole file: a column with more than
 * DATASET_CLASS_LIMIT distinct values or a longer one than DATASET_LABEL_BYTES cannot; of two that can, the
 * one of whole numbers, else the one with fewer distinct values, else the shorter one, else the first. */
struct dataset *dataset_parse_csv(const char *bytes, size_t size, struct error *error);
struct dataset *dataset_parse_tsv(const char *bytes, size_t size, struct error *error);
void dataset_free(struct dataset *dataset);

#endif
