/* The HDF5 library, loaded when a weight file is first read.
 *
 * With all that it depends on (it can read files by HTTP) it would take more than half of the program's
 * start, of every start, for one experiment. So the program is not linked with it: its functions are members
 * of this struct, under their own names and with the types that hdf5.h declares. */
#ifndef ATTNLAB_SERVER_FORMATS_HDF5_LIBRARY_H
#define ATTNLAB_SERVER_FORMATS_HDF5_LIBRARY_H

#include "core/error.h"

#include <hdf5.h>

#define HDF5_FUNCTIONS(FUNCTION)                                                                             \
    FUNCTION(H5Aclose)                                                                                       \
    FUNCTION(H5Aget_space)                                                                                   \
    FUNCTION(H5Aget_type)                                                                                    \
    FUNCTION(H5Aopen)                                                                                        \
    FUNCTION(H5Aread)                                                                                        \
    FUNCTION(H5Dclose)                                                                                       \
    FUNCTION(H5Dget_create_plist)                                                                            \
    FUNCTION(H5Dget_space)                                                                                   \
    FUNCTION(H5Dget_type)                                                                                    \
    FUNCTION(H5Dopen2)                                                                                       \
    FUNCTION(H5Dread)                                                                                        \
    FUNCTION(H5Dvlen_reclaim)                                                                                \
    FUNCTION(H5Eset_auto2)                                                                                   \
    FUNCTION(H5Fclose)                                                                                       \
    FUNCTION(H5Fopen)                                                                                        \
    FUNCTION(H5Gclose)                                                                                       \
    FUNCTION(H5Gopen2)                                                                                       \
    FUNCTION(H5PLset_loading_state)                                                                          \
    FUNCTION(H5Pclose)                                                                                       \
    FUNCTION(H5Pcreate)                                                                                      \
    FUNCTION(H5Pget_external_count)                                                                          \
    FUNCTION(H5Pget_filter2)                                                                                 \
    FUNCTION(H5Pget_layout)                                                                                  \
    FUNCTION(H5Pget_nfilters)                                                                                \
    FUNCTION(H5Pset_fapl_core)                                                                               \
    FUNCTION(H5Pset_file_image)                                                                              \
    FUNCTION(H5Sclose)                                                                                       \
    FUNCTION(H5Sget_simple_extent_dims)                                                                      \
    FUNCTION(H5Sget_simple_extent_ndims)                                                                     \
    FUNCTION(H5Sget_simple_extent_npoints)                                                                   \
    FUNCTION(H5Tclose)                                                                                       \
    FUNCTION(H5Tcopy)                                                                                        \
    FUNCTION(H5Tget_class)                                                                                   \
    FUNCTION(H5Tget_cset)                                                                                    \
    FUNCTION(H5Tget_size)                                                                                    \
    FUNCTION(H5Tis_variable_str)                                                                             \
    FUNCTION(H5Tset_cset)                                                                                    \
    FUNCTION(H5Tset_size)                                                                                    \
    FUNCTION(H5open)

struct hdf5_library {
#define HDF5_MEMBER(name) __typeof__(name) *name;
    HDF5_FUNCTIONS(HDF5_MEMBER)
#undef HDF5_MEMBER
    /* What the macros H5T_NATIVE_FLOAT, H5T_C_S1 and H5P_FILE_ACCESS stand for, filled in by H5open. */
    const hid_t *native_float, *c_string, *file_access;
};

/* Loads it, or finds it loaded; it stays. ERROR_UNAVAILABLE where it is not installed. */
bool hdf5_library_load(struct hdf5_library *library, struct error *error);

#endif
