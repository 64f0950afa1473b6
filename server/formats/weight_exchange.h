/* What the daemon and its helper attnlab-hdf5 (server/hdf5) have agreed on: how arrays of weights cross.
 *
 * One answer holds a signature, then either the message of an error, or the arrays: for each its name, its
 * rank and shape, and its floats, as they lie in memory. Both programs are of one build on one machine. The
 * reader trusts nothing of it: the helper may be in the hands of the file that it reads. */
#ifndef ATTNLAB_SERVER_FORMATS_WEIGHT_EXCHANGE_H
#define ATTNLAB_SERVER_FORMATS_WEIGHT_EXCHANGE_H

#include "core/pretrained/weight_arrays.h"

#define WEIGHT_EXCHANGE_PROGRAM "attnlab-hdf5"

enum {
    WEIGHT_EXCHANGE_SECONDS = 20,             /* to read a file, by the clock and of processor time */
    WEIGHT_EXCHANGE_ELEMENTS_LIMIT = 1 << 24, /* floats in all arrays together: 64 MB */
    WEIGHT_EXCHANGE_ANSWER_LIMIT = 80 << 20   /* bytes of an answer */
};

/* Writes an answer to a file descriptor: the error, or the arrays if it is ERROR_NONE. False if not all of it
 * could be written. */
bool weight_exchange_write(int output, const struct weight_arrays *arrays, const struct error *failure);

/* Reads an answer. ERROR_INVALID with the message that it holds, or because it is malformed: cut off, longer
 * than it says, or with names, shapes or counts that cannot be. On success free with weight_arrays_free; on
 * failure `arrays` is left empty. */
bool weight_exchange_read(const void *bytes, size_t size, struct weight_arrays *arrays, struct error *error);

#endif
