/* Gives experiments the user's data sets and files.
 *
 * core opens no file and knows no store: it calls these functions instead. The server implements them with
 * its data directory and its store, the command line with a folder, and a test with memory. */
#ifndef ATTNLAB_CORE_TASKS_DATA_SOURCE_H
#define ATTNLAB_CORE_TASKS_DATA_SOURCE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dataset;
struct stop_request;
struct weight_arrays;

/* Any member may be NULL. */
struct data_source {
    void *owner;
    /* A data set by name, borrowed until release_dataset; NULL with ERROR_MISSING if it does not exist. */
    const struct dataset *(*find_dataset)(void *owner, const char *name, struct error *error);
    void (*release_dataset)(void *owner, const struct dataset *dataset);
    /* Reads a whole file of the data directory by its plain name (no path); release with free(). */
    bool (*read_file)(void *owner, const char *name, void **bytes, size_t *size, struct error *error);
    /* Whether read_file would find the file; fails with the same error. If this member is NULL, the file must
     * be read to find out. */
    bool (*find_file)(void *owner, const char *name, struct error *error);
    /* Decodes the bytes of a Keras weight file (HDF5) into its arrays, in the order of the file's layer_names
     * and weight_names. ERROR_INVALID if the file is damaged, ERROR_CANCELLED if `stop` (may be NULL) asks
     * for it; free with weight_arrays_free. */
    bool (*decode_weights)(void *owner, const void *bytes, size_t size, const struct stop_request *stop,
                           struct weight_arrays *arrays, struct error *error);
    /* A small cache that outlives the run, for image embeddings. It may forget anything at any time. */
    bool (*cache_get)(void *owner, const char *key, void **bytes, size_t *size);
    void (*cache_put)(void *owner, const char *key, const void *bytes, size_t size);
};

#endif
