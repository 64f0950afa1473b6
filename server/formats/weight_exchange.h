/* The format in which the helper attnlab-hdf5 (server/hdf5) sends arrays of weights to the daemon.
 *
 * An answer is the program's name and version, then either an error's message or the arrays: for each its
 * name, its rank and shape, and its floats as they are in memory. Both programs come from one build and run
 * on one machine. The reader checks everything, because the file that the helper reads may have taken control
 * of it. */
#ifndef ATTNLAB_SERVER_FORMATS_WEIGHT_EXCHANGE_H
#define ATTNLAB_SERVER_FORMATS_WEIGHT_EXCHANGE_H

#include "core/pretrained/weight_arrays.h"

#define WEIGHT_EXCHANGE_PROGRAM "attnlab-hdf5"

enum {
    WEIGHT_EXCHANGE_SECONDS = 20,             /* for reading a file, both elapsed time and processor time */
    WEIGHT_EXCHANGE_ELEMENTS_LIMIT = 1 << 24, /* floats in all arrays together: 64 MB */
    WEIGHT_EXCHANGE_ANSWER_LIMIT = 80 << 20   /* bytes of an answer */
};

/* Writes an answer to a file descriptor: the error, or the arrays if there is none (ERROR_NONE). Returns
 * false if it could not write all of it. */
bool weight_exchange_write(int output, const struct weight_arrays *arrays, const struct error *failure);

/* Reads an answer. ERROR_INVALID with the message in the answer; or because the answer is malformed: it is
 * cut off, too long, or has impossible names, shapes or counts. ERROR_UNAVAILABLE if a helper of another
 * version wrote it. On success, free with weight_arrays_free; on
 * failure, `arrays` is empty. */
bool weight_exchange_read(const void *bytes, size_t size, struct weight_arrays *arrays, struct error *error);

#endif
