/* Reads a weight file through attnlab-hdf5: see keras_weights.h. */
#include "server/formats/keras_weights.h"

#include "server/formats/weight_exchange.h"
#include "server/system/helper_program.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

bool keras_weights_decode(void *owner, const void *bytes, size_t size, const struct stop_request *stop,
                          struct weight_arrays *arrays, struct error *error) {
    (void)owner;
    if (size < sizeof signature || memcmp(bytes, signature, sizeof signature) != 0)
        return error_set(error, ERROR_INVALID, "it is not an HDF5 file");
    char path[PATH_MAX];
    const struct helper_program program = {
        .path = path, .seconds = WEIGHT_EXCHANGE_SECONDS, .answer = WEIGHT_EXCHANGE_ANSWER_LIMIT};
    void *answer = NULL;
    size_t answer_size = 0;
    if (!helper_program_find(WEIGHT_EXCHANGE_PROGRAM, path, sizeof path, error) ||
        !helper_program_run(&program, bytes, size, stop, &answer, &answer_size, error))
        return false;
    bool good = weight_exchange_read(answer, answer_size, arrays, error);
    free(answer);
    return good;
}
