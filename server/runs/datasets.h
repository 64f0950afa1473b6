/* The user's data sets and files, for experiments and the API.
 *
 * The store keeps a data set as the bytes of its upload. It is parsed when it is used; its users share the
 * parsed data set, which stays in memory as long as somebody uses it. A run holds its data set by contents
 * (dataset_digest.h), so it never gets another one that has the same name. Files (weights, images) are in the
 * data directory; a file name with a slash or a leading dot is refused. */
#ifndef ATTNLAB_SERVER_RUNS_DATASETS_H
#define ATTNLAB_SERVER_RUNS_DATASETS_H

#include "core/parameters/set.h"
#include "core/tasks/data_source.h"
#include "core/tasks/dataset.h"
#include "server/formats/format.h"
#include "server/store/store.h"

struct datasets;

/* Which data set a name stands for. */
struct dataset_choice {
    struct datasets *datasets;
    bool is_of_run;         /* if not, the data set that has the name now */
    const char *run_digest; /* the run_record's dataset_digest, borrowed */
};

/* The formats of a data set's upload. */
struct dataset_format {
    enum format format; /* FORMAT_NONE ends the table */
    struct dataset *(*parse)(const char *bytes, size_t size, struct error *error);
};
extern const struct dataset_format dataset_formats[];

/* The name of the data set that a run with these parameters uses, or of a built-in task; "" if the experiment
 * uses neither. Borrowed. */
const char *run_dataset_name(const struct parameter_set *parameters);

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
/* As struct store's list_datasets. */
bool datasets_list(struct datasets *datasets, const char *after, size_t limit, struct dataset_record **list,
                   size_t *count, struct error *error);
bool datasets_find(struct datasets *datasets, const char *name, struct dataset_record *record,
                   struct error *error);
/* As struct store's delete_dataset. */
bool datasets_delete(struct datasets *datasets, const char *name, struct run_ids *users, struct error *error);
/* The digest of the data set that has this name now; "" if there is none. Released with free(). */
bool datasets_find_digest(struct datasets *datasets, const char *name, char **digest, struct error *error);

/* The data sets that have the names now: for experiment_prepare. Thread-safe. */
struct data_source datasets_source(struct datasets *datasets);
/* For a run and its inspections. `choice` is borrowed. Finding a data set fails with ERROR_CONFLICT if the
 * run's was deleted, also if another one has its name now. */
struct data_source datasets_source_of_run(struct dataset_choice *choice);
/* Fails like the run's data source if the data set `name` of the run cannot be found. */
bool datasets_check_choice(const struct dataset_choice *choice, const char *name, struct error *error);

#endif
