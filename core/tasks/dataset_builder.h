/* Builds a data set row by row, from a user's file or from drawn sentences.
 *
 * Arrays grow as rows are added. Classes are numbered as they appear and sorted at the end, in numeric order
 * if all are whole numbers, else in byte order, so that they do not depend on the order of the rows. */
#ifndef ATTNLAB_CORE_TASKS_DATASET_BUILDER_H
#define ATTNLAB_CORE_TASKS_DATASET_BUILDER_H

#include "core/tasks/dataset.h"
#include "core/tasks/delimited.h"

struct word_table;

struct dataset_builder {
    struct dataset *dataset;
    struct word_table *classes;
    size_t row_capacity, token_count, token_capacity;
};

/* `sequence_length` is the number of values in a row, or 0 for text. Always end with dataset_builder_finish,
 * even after a failure. */
bool dataset_builder_start(struct dataset_builder *builder, enum dataset_kind kind, size_t sequence_length,
                           struct error *error);

/* Adds a class that may turn out to have no rows. */
bool dataset_builder_add_class(struct dataset_builder *builder, const char *name, struct error *error);

/* Adds one row of text; fails with an ERROR_INVALID that names `line`. */
bool dataset_builder_add_text(struct dataset_builder *builder, size_t line, struct delimited_field text,
                              struct delimited_field label, struct error *error);

/* Begins a row of numbers: checks its label and returns the place for its [sequence_length] values, or NULL.
 * The row is not added before dataset_builder_end_numbers is called. */
float *dataset_builder_begin_numbers(struct dataset_builder *builder, size_t line,
                                     struct delimited_field label, struct error *error);
void dataset_builder_end_numbers(struct dataset_builder *builder);

/* Returns the finished data set, or NULL if `succeeded` is false. ERROR_INVALID if there are fewer than two
 * rows or classes. */
struct dataset *dataset_builder_finish(struct dataset_builder *builder, bool succeeded, struct error *error);

#endif
