/* Reads a weight file in a child process and takes over what it found: see keras_weights.h.
 *
 * The child's answer is a struct error; where that holds none, a struct array_header and the floats follow
 * for every array. The answer is not trusted more than the file. */
#include "server/formats/keras_weights.h"

#include "server/formats/isolated.h"
#include "server/formats/keras_hdf5.h"

#include <stdlib.h>
#include <string.h>

static const struct isolated_limits limits = {
    .seconds = 20,
    .memory = 512ULL << 20,
    .output = 80ULL << 20,
};

static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

struct array_header {
    char name[WEIGHT_ARRAY_NAME_SIZE];
    size_t rank;
    size_t shape[WEIGHT_ARRAY_RANK_LIMIT];
};

struct weight_file {
    struct hdf5_library hdf5;
    const void *bytes;
    size_t size;
};

static void read_in_child(void *argument, int output) {
    const struct weight_file *file = argument;
    struct weight_arrays arrays = {0};
    struct error error = {0};
    keras_hdf5_read(&file->hdf5, file->bytes, file->size, &arrays, &error);
    isolated_write(output, &error, sizeof error);
    for (size_t i = 0; i < arrays.count && error.code == ERROR_NONE; i++) {
        const struct weight_array *array = &arrays.items[i];
        struct array_header header = {.rank = array->rank};
        memcpy(header.name, array->name, sizeof header.name);
        memcpy(header.shape, array->shape, sizeof header.shape);
        isolated_write(output, &header, sizeof header);
        isolated_write(output, array->values, array->count * sizeof(float));
    }
    weight_arrays_free(&arrays);
}

/* Copies `count` bytes out of the answer; false where it is shorter. */
static bool take(const char **at, size_t *left, void *target, size_t count) {
    if (count > *left)
        return false;
    memcpy(target, *at, count);
    *at += count;
    *left -= count;
    return true;
}

static bool take_arrays(const char *at, size_t left, struct weight_arrays *arrays, struct error *error) {
    while (left > 0) {
        struct array_header header;
        if (!take(&at, &left, &header, sizeof header))
            return error_set(error, ERROR_INVALID, "reading it gave an incomplete answer");
        header.name[sizeof header.name - 1] = '\0';
        /* Before memory is asked for: the numbers must be there. */
        size_t room = left / sizeof(float);
        for (size_t i = 0; i < header.rank && i < WEIGHT_ARRAY_RANK_LIMIT; i++)
            room = header.shape[i] > 0 ? room / header.shape[i] : 0;
        if (room == 0)
            return error_set(error, ERROR_INVALID, "reading it gave an incomplete answer");
        struct weight_array *array = weight_arrays_add(arrays, header.name, header.shape, header.rank, error);
        if (array == NULL || !take(&at, &left, array->values, array->count * sizeof(float)))
            return error_set(error, ERROR_INVALID, "reading it gave an incomplete answer");
    }
    return true;
}

bool keras_weights_decode(void *owner, const void *bytes, size_t size, struct weight_arrays *arrays,
                          struct error *error) {
    (void)owner;
    if (size < sizeof signature || memcmp(bytes, signature, sizeof signature) != 0)
        return error_set(error, ERROR_INVALID, "it is not an HDF5 file");
    struct weight_file file = {.bytes = bytes, .size = size};
    /* Here, because the child may open no files. */
    if (!hdf5_library_load(&file.hdf5, error))
        return false;
    void *answer = NULL;
    size_t left = 0;
    if (!isolated_run(read_in_child, &file, &limits, &answer, &left, error))
        return false;
    const char *at = answer;
    struct error child_error;
    bool good = take(&at, &left, &child_error, sizeof child_error);
    child_error.message[sizeof child_error.message - 1] = '\0';
    if (!good)
        error_set(error, ERROR_INVALID, "reading it gave no answer");
    else if (child_error.code != ERROR_NONE)
        good = error_set(error, ERROR_INVALID, "%s", child_error.message);
    else
        good = take_arrays(at, left, arrays, error);
    free(answer);
    if (!good)
        weight_arrays_free(arrays);
    return good;
}
