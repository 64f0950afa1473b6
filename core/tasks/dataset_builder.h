/* Builds a data set row by row: for files of the user and for sentences that are drawn.
 *
 * Arrays grow as rows come; classes are numbered as they appear and sorted at the end, in numeric order where
 * all are whole numbers, else in byte order, so that they do not depend on the order of the rows. */
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

/* `sequence_length` is that of numbers; 0 for text. End with dataset_builder_finish, also after a failure. */
bool dataset_builder_start(struct dataset_builder *builder, enum dataset_kind kind, size_t sequence_length,
                           struct error *error);

/* Makes a class known that no row may have. */
bool dataset_builder_add_class(struct dataset_builder *builder, const char *name, struct error *error);

/* Adds one row of text, or ERROR_INVALID that names `line`. */
bool dataset_builder_add_text(struct dataset_builder *builder, size_t line, struct delimited_field text,
                              struct delimited_field label, struct error *error);

/* Begins a row of numbers: checks its label and returns where its [sequence_length] values go, or NULL. The
 * row counts once dataset_builder_end_numbers is called. */
float *dataset_builder_begin_numbers(struct dataset_builder *builder, size_t line,
                                     struct delimited_field label, struct error *error);
void dataset_builder_end_numbers(struct dataset_builder *builder);

/* The finished data set, or NULL where `succeeded` is false. ERROR_INVALID where there are fewer than two
 * rows or classes. */
struct dataset *dataset_builder_finish(struct dataset_builder *builder, bool succeeded, struct error *error);

#endif
