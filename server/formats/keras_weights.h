/* Weight files that Keras publishes: HDF5.
 *
 * The root's attribute layer_names lists groups, each group's attribute weight_names the arrays in it; in
 * this order they are the network's. The HDF5 library is no match for hostile files, so it only ever runs in
 * a child process (isolated.h), and refuses there what a weight file has no use for: arrays in other files,
 * virtual ones, filters other than deflate, shuffle and fletcher32. */
#ifndef ATTNLAB_SERVER_FORMATS_KERAS_WEIGHTS_H
#define ATTNLAB_SERVER_FORMATS_KERAS_WEIGHTS_H

#include "core/pretrained/weight_arrays.h"

/* data_source's decode_weights; `owner` is not used. Thread-safe. */
bool keras_weights_decode(void *owner, const void *bytes, size_t size, struct weight_arrays *arrays,
                          struct error *error);

#endif
