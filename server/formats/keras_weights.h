/* Weight files that Keras publishes: HDF5.
 *
 * The root's attribute layer_names lists groups, each group's attribute weight_names the arrays in it; in
 * this order they are the network's. The HDF5 library is no match for hostile files, so it only runs in the
 * helper attnlab-hdf5 (server/hdf5/main.c), one process for each file. */
#ifndef ATTNLAB_SERVER_FORMATS_KERAS_WEIGHTS_H
#define ATTNLAB_SERVER_FORMATS_KERAS_WEIGHTS_H

#include "core/pretrained/weight_arrays.h"
#include "core/stop_request.h"

/* data_source's decode_weights; `owner` is not used. ERROR_INVALID if the file is no weight file, or crashes
 * or overtaxes what reads it; ERROR_UNAVAILABLE if the helper does not start. Thread-safe. */
bool keras_weights_decode(void *owner, const void *bytes, size_t size, const struct stop_request *stop,
                          struct weight_arrays *arrays, struct error *error);

#endif
