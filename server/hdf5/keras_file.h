/* Reads a Keras weight file with the HDF5 library.
 *
 * Refuses features that weight files do not need: arrays in other files, virtual arrays, and filters other
 * than deflate, shuffle and fletcher32. The layout is described in keras_weights.h. */
#ifndef ATTNLAB_SERVER_HDF5_KERAS_FILE_H
#define ATTNLAB_SERVER_HDF5_KERAS_FILE_H

#include "core/pretrained/weight_arrays.h"

/* Appends all arrays in the order in which the file lists their names. ERROR_INVALID if the file is damaged
 * or is not a weight file. A hostile file may also crash or hang the process. Not thread-safe. */
bool keras_file_read(const void *bytes, size_t size, struct weight_arrays *arrays, struct error *error);

#endif
