/* Writes and reads the answers of attnlab-hdf5: see weight_exchange.h. */
#include "server/formats/weight_exchange.h"

#include "server/system/version.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* The same in every version, so that the reader can tell an answer of another version from a malformed one.
 */
struct signature {
    char program[16];
    char version[16];
};

static const struct signature own_signature = {WEIGHT_EXCHANGE_PROGRAM, ATTNLAB_VERSION};

struct answer_header {
    uint64_t message_size; /* with its terminator; 0: no message but arrays follow the header */
    uint64_t array_count;
};

struct array_header {
    char name[WEIGHT_ARRAY_NAME_SIZE];
    uint64_t rank;
    uint64_t shape[WEIGHT_ARRAY_RANK_LIMIT];
};

/* The rest of an answer. */
struct reader {
    const char *bytes;
    size_t left;
};

static bool write_all(int output, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(output, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

static bool write_array(int output, const struct weight_array *array) {
    struct array_header header = {.rank = array->rank};
    memcpy(header.name, array->name, sizeof header.name);
    for (size_t i = 0; i < array->rank; i++)
        header.shape[i] = array->shape[i];
    return write_all(output, &header, sizeof header) &&
           write_all(output, array->values, array->count * sizeof *array->values);
}

bool weight_exchange_write(int output, const struct weight_arrays *arrays, const struct error *failure) {
    struct answer_header header = {.array_count = arrays->count};
    if (failure->code != ERROR_NONE) {
        header.message_size = strlen(failure->message) + 1;
        header.array_count = 0;
    }
    bool good = write_all(output, &own_signature, sizeof own_signature) &&
                write_all(output, &header, sizeof header) &&
                write_all(output, failure->message, (size_t)header.message_size);
    for (size_t i = 0; i < header.array_count && good; i++)
        good = write_array(output, &arrays->items[i]);
    return good;
}

/* Copies the next `size` bytes; false if the answer is shorter. */
static bool take(struct reader *reader, void *target, size_t size) {
    if (size > reader->left)
        return false;
    memcpy(target, reader->bytes, size);
    reader->bytes += size;
    reader->left -= size;
    return true;
}

static bool take_array(struct reader *reader, struct weight_arrays *arrays, struct error *error) {
    struct array_header header;
    size_t shape[WEIGHT_ARRAY_RANK_LIMIT] = {0};
    if (!take(reader, &header, sizeof header) || header.rank > WEIGHT_ARRAY_RANK_LIMIT ||
        memchr(header.name, '\0', sizeof header.name) == NULL)
        return false;
    /* Checks that the numbers are there before memory is allocated for them. */
    size_t room = reader->left / sizeof(float);
    for (size_t i = 0; i < header.rank; i++) {
        if (header.shape[i] == 0 || header.shape[i] > room)
            return false;
        room /= (size_t)header.shape[i];
        shape[i] = (size_t)header.shape[i];
    }
    if (room == 0)
        return false;
    struct weight_array *array = weight_arrays_add(arrays, header.name, shape, (size_t)header.rank, error);
    return array != NULL && take(reader, array->values, array->count * sizeof *array->values);
}

/* Reads the message of an error. It is malformed unless its only terminator is its last byte and nothing
 * follows it. */
static bool take_message(struct reader *reader, uint64_t size, struct error *error) {
    struct error failure = {0};
    if (size > sizeof failure.message || !take(reader, failure.message, (size_t)size) || reader->left > 0 ||
        memchr(failure.message, '\0', (size_t)size) != failure.message + size - 1)
        return false;
    error_set(error, ERROR_INVALID, "%s", failure.message);
    return true;
}

bool weight_exchange_read(const void *bytes, size_t size, struct weight_arrays *arrays, struct error *error) {
    struct reader reader = {.bytes = bytes, .left = size};
    struct signature signature = {0};
    struct answer_header header = {0};
    bool good = take(&reader, &signature, sizeof signature) &&
                memcmp(signature.program, own_signature.program, sizeof signature.program) == 0;
    if (good && memcmp(signature.version, own_signature.version, sizeof signature.version) != 0)
        return error_set(error, ERROR_UNAVAILABLE,
                         WEIGHT_EXCHANGE_PROGRAM " is of another version than attnlab (" ATTNLAB_VERSION ")");
    good = good && take(&reader, &header, sizeof header);
    if (good && header.message_size > 0 && take_message(&reader, header.message_size, error))
        return false;
    good = good && header.message_size == 0;
    for (uint64_t i = 0; i < header.array_count && good; i++)
        good = take_array(&reader, arrays, error);
    if (good && reader.left == 0)
        return true;
    weight_arrays_free(arrays);
    return error_set(error, ERROR_INVALID, "the reader gave a malformed answer");
}
