/* Named arrays of floats in the order of the file they come from: the weights of a pretrained network. */
#ifndef ATTNLAB_CORE_PRETRAINED_WEIGHT_ARRAYS_H
#define ATTNLAB_CORE_PRETRAINED_WEIGHT_ARRAYS_H

#include "core/error.h"

#include <stddef.h>

enum { WEIGHT_ARRAY_NAME_SIZE = 128, WEIGHT_ARRAY_RANK_LIMIT = 4, WEIGHT_ARRAY_COUNT_LIMIT = 4096 };

struct weight_array {
    char name[WEIGHT_ARRAY_NAME_SIZE]; /* as in the file: "Conv1/kernel:0" */
    size_t rank;
    size_t shape[WEIGHT_ARRAY_RANK_LIMIT];
    size_t count;  /* the product of shape[0 .. rank) */
    float *values; /* owned, row-major */
};

/* Zero-initialise; free with weight_arrays_free. */
struct weight_arrays {
    struct weight_array *items; /* owned */
    size_t count;
};

/* Appends an array of zeros and returns it, valid until the next call. NULL on failure; ERROR_INVALID if the
 * name, the rank or the number of arrays exceeds the limits above. */
struct weight_array *weight_arrays_add(struct weight_arrays *arrays, const char *name, const size_t *shape,
                                       size_t rank, struct error *error);
void weight_arrays_free(struct weight_arrays *arrays);

#endif
