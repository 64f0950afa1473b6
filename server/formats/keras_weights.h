/* Weight files as Keras publishes them: HDF5.
 *
 * The root's attribute layer_names lists groups, and each group's attribute weight_names lists the arrays in
 * it. In this order they are the network's arrays. The HDF5 library is not safe against hostile files, so it
 * runs only in the helper attnlab-hdf5 (server/hdf5/main.c), in one process per file. */
#ifndef ATTNLAB_SERVER_FORMATS_KERAS_WEIGHTS_H
#define ATTNLAB_SERVER_FORMATS_KERAS_WEIGHTS_H

#include "core/pretrained/weight_arrays.h"
#include "core/stop_request.h"

/* data_source's decode_weights; `owner` is not used. ERROR_INVALID if the file is not a weight file, or if
 * the helper crashes or exceeds its limits; ERROR_UNAVAILABLE if the helper does not start or is of another
 * version. Thread-safe. */
bool keras_weights_decode(void *owner, const void *bytes, size_t size, const struct stop_request *stop,
                          struct weight_arrays *arrays, struct error *error);

#endif
