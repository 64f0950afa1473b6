/* Walks a Keras weight file with the HDF5 library.
 *
 * It refuses what a weight file has no use for: arrays in other files, virtual ones, filters other than
 * deflate, shuffle and fletcher32. keras_weights.h has the layout. */
#ifndef ATTNLAB_SERVER_HDF5_KERAS_FILE_H
#define ATTNLAB_SERVER_HDF5_KERAS_FILE_H

#include "core/pretrained/weight_arrays.h"

/* Appends all arrays, in the order of the file's names. ERROR_INVALID if it is damaged or holds something
 * else; a hostile file may also crash or hang the process. Not thread-safe. */
bool keras_file_read(const void *bytes, size_t size, struct weight_arrays *arrays, struct error *error);

#endif
