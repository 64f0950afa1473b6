/* Where experiments find the user's data sets and files.
 *
 * core opens no file and knows no store: what it needs of them it asks of this, which the server fills in
 * from its data directory and its store, the command line from a folder, and a test from memory. */
#ifndef ATTNLAB_CORE_TASKS_DATA_SOURCE_H
#define ATTNLAB_CORE_TASKS_DATA_SOURCE_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct dataset;
struct weight_arrays;

/* Any member may be NULL. */
struct data_source {
    void *owner;
    /* A data set by name, borrowed until `release`d; NULL with ERROR_MISSING where there is none. */
    const struct dataset *(*find_dataset)(void *owner, const char *name, struct error *error);
    void (*release_dataset)(void *owner, const struct dataset *dataset);
    /* A whole file of the data directory by its plain name (no path); release with free(). */
    bool (*read_file)(void *owner, const char *name, void **bytes, size_t *size, struct error *error);
    /* Whether read_file would find it; the error is read_file's. Where this is NULL, reading it tells. */
    bool (*find_file)(void *owner, const char *name, struct error *error);
    /* The arrays of a Keras weight file (HDF5), given as bytes, in the order of its layer_names and
     * weight_names. ERROR_INVALID where the file is damaged; free with weight_arrays_free. */
    bool (*decode_weights)(void *owner, const void *bytes, size_t size, struct weight_arrays *arrays,
                           struct error *error);
    /* A small cache that outlives the run (image embeddings): may forget anything at any time. */
    bool (*cache_get)(void *owner, const char *key, void **bytes, size_t *size);
    void (*cache_put)(void *owner, const char *key, const void *bytes, size_t size);
};

#endif
