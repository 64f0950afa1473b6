/* The part of reading a Keras weight file that uses the HDF5 library. */
#ifndef ATTNLAB_SERVER_FORMATS_KERAS_HDF5_H
#define ATTNLAB_SERVER_FORMATS_KERAS_HDF5_H

#include "core/pretrained/weight_arrays.h"
#include "server/formats/hdf5_library.h"

/* As keras_weights_decode, but in this process: a hostile file may crash or hang it. Not thread-safe. */
bool keras_hdf5_read(const struct hdf5_library *hdf5, const void *bytes, size_t size,
                     struct weight_arrays *arrays, struct error *error);

#endif
