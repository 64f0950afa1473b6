/* A growing list of named arrays: see weight_arrays.h. */
#include "core/pretrained/weight_arrays.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The product of the shape, or SIZE_MAX if that many floats cannot be addressed. */
static size_t count_elements(const size_t *shape, size_t rank) {
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] != 0 && count > SIZE_MAX / sizeof(float) / shape[i])
            return SIZE_MAX;
        count *= shape[i];
    }
    return count;
}

struct weight_array *weight_arrays_add(struct weight_arrays *arrays, const char *name, const size_t *shape,
                                       size_t rank, struct error *error) {
    size_t count = rank <= WEIGHT_ARRAY_RANK_LIMIT ? count_elements(shape, rank) : SIZE_MAX;
    if (arrays->count == WEIGHT_ARRAY_COUNT_LIMIT || strlen(name) >= WEIGHT_ARRAY_NAME_SIZE ||
        count == SIZE_MAX) {
        error_set(error, ERROR_INVALID,
                  "array %zu has too long a name or too many dimensions, or there are too many arrays",
                  arrays->count + 1);
        return NULL;
    }
    struct weight_array *items = realloc(arrays->items, (arrays->count + 1) * sizeof *items);
    if (items == NULL) {
        error_set_memory(error, (arrays->count + 1) * sizeof *items);
        return NULL;
    }
    arrays->items = items;
    struct weight_array *array = &items[arrays->count];
    *array = (struct weight_array){.rank = rank, .count = count};
    memcpy(array->name, name, strlen(name) + 1);
    if (rank > 0)
        memcpy(array->shape, shape, rank * sizeof *shape);
    array->values = calloc(count > 0 ? count : 1, sizeof(float));
    if (array->values == NULL) {
        error_set_memory(error, count * sizeof(float));
        return NULL;
    }
    arrays->count++;
    return array;
}

void weight_arrays_free(struct weight_arrays *arrays) {
    for (size_t i = 0; i < arrays->count; i++)
        free(arrays->items[i].values);
    free(arrays->items);
    *arrays = (struct weight_arrays){0};
}
