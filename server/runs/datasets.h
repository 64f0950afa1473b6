/* The user's data sets and files, for experiments and the API.
 *
 * The store keeps a data set as the bytes of its upload. It is parsed when it is used; its users share the
 * parsed data set, which stays in memory as long as somebody uses it. Files (weights, images) are in the data
 * directory; a file name with a slash or a leading dot is refused. */
#ifndef ATTNLAB_SERVER_RUNS_DATASETS_H
#define ATTNLAB_SERVER_RUNS_DATASETS_H

#include "core/tasks/data_source.h"
#include "core/tasks/dataset.h"
#include "server/formats/format.h"
#include "server/store/store.h"

struct datasets;

/* The formats of a data set's upload. */
struct dataset_format {
    enum format format; /* FORMAT_NONE ends the table */
    struct dataset *(*parse)(const char *bytes, size_t size, struct error *error);
};
extern const struct dataset_format dataset_formats[];

/* The store is borrowed. */
struct datasets *datasets_open(struct store *store, const char *data_directory, struct error *error);
void datasets_close(struct datasets *datasets);

/* ERROR_INVALID if the name is malformed, ERROR_CONFLICT if it is that of a built-in task. */
bool datasets_check_name(const char *name, struct error *error);

/* Parses and stores a data set; `format` is one of dataset_formats. ERROR_INVALID for a bad name or a bad row
 * (the message names the line), ERROR_CONFLICT if the name is taken. Fills in `record`, which the caller
 * clears. */
bool datasets_add(struct datasets *datasets, const char *name, enum format format, const void *bytes,
                  size_t size, const char *owner, struct dataset_record *record, struct error *error);
bool datasets_list(struct datasets *datasets, struct dataset_record **list, size_t *count,
                   struct error *error);
bool datasets_find(struct datasets *datasets, const char *name, struct dataset_record *record,
                   struct error *error);
bool datasets_delete(struct datasets *datasets, const char *name, struct error *error);

/* For experiment_prepare, inspections and runs; thread-safe. */
struct data_source datasets_source(struct datasets *datasets);

#endif
