/* Walks a Keras weight file with the HDF5 library: see keras_file.h. */
#include "server/hdf5/keras_file.h"

#include "server/formats/weight_exchange.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_LIMIT = 4096,        /* names in one attribute */
    IMAGE_INCREMENT = 1 << 16 /* how much HDF5 grows a file in memory at a time */
};

/* The strings of an attribute, each in WEIGHT_ARRAY_NAME_SIZE bytes. */
struct name_list {
    char (*names)[WEIGHT_ARRAY_NAME_SIZE];
    size_t count;
};

static bool keep_name(struct name_list *list, size_t index, const char *name) {
    size_t length = name != NULL ? strlen(name) : WEIGHT_ARRAY_NAME_SIZE;
    if (length >= WEIGHT_ARRAY_NAME_SIZE)
        return false;
    memcpy(list->names[index], name, length + 1);
    return true;
}

/* Strings of equal length, as h5py writes arrays of bytes. */
static bool read_fixed_names(hid_t attribute, hid_t memory_type, size_t length, struct name_list *list) {
    if (length == 0 || length >= WEIGHT_ARRAY_NAME_SIZE || H5Tset_size(memory_type, length + 1) < 0)
        return false;
    char *text = calloc(list->count, length + 1);
    bool good = text != NULL && H5Aread(attribute, memory_type, text) >= 0;
    for (size_t i = 0; i < list->count && good; i++)
        good = keep_name(list, i, text + i * (length + 1));
    free(text);
    return good;
}

/* Strings of various lengths, as h5py writes arrays of str. */
static bool read_variable_names(hid_t attribute, hid_t memory_type, hid_t space, struct name_list *list) {
    char **texts = calloc(list->count, sizeof *texts);
    bool good = texts != NULL && H5Tset_size(memory_type, H5T_VARIABLE) >= 0 &&
                H5Aread(attribute, memory_type, texts) >= 0;
    for (size_t i = 0; i < list->count && good; i++)
        good = keep_name(list, i, texts[i]);
    if (texts != NULL)
        H5Dvlen_reclaim(memory_type, space, H5P_DEFAULT, texts);
    free(texts);
    return good;
}

/* An empty list may have any type. */
static bool read_attribute(hid_t attribute, struct name_list *list) {
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute), memory_type = H5Tcopy(H5T_C_S1);
    hssize_t count = H5Sget_simple_extent_npoints(space);
    bool good = type >= 0 && memory_type >= 0 && count >= 0 && count <= NAME_LIMIT;
    if (good && count > 0) {
        list->names = calloc((size_t)count, sizeof *list->names);
        list->count = (size_t)count;
        good = list->names != NULL && H5Tget_class(type) == H5T_STRING;
        H5Tset_cset(memory_type, H5Tget_cset(type));
        if (good && H5Tis_variable_str(type) > 0)
            good = read_variable_names(attribute, memory_type, space, list);
        else if (good)
            good = read_fixed_names(attribute, memory_type, H5Tget_size(type), list);
    }
    H5Tclose(memory_type);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

static bool read_names(hid_t object, const char *attribute_name, struct name_list *list,
                       struct error *error) {
    hid_t attribute = H5Aopen(object, attribute_name, H5P_DEFAULT);
    if (attribute < 0)
        return error_set(error, ERROR_INVALID,
                         "this is not a Keras weight file, or it is damaged: the attribute %s is missing",
                         attribute_name);
    bool good = read_attribute(attribute, list);
    H5Aclose(attribute);
    return good || error_set(error, ERROR_INVALID, "the attribute %s is damaged", attribute_name);
}

/* Whether the array's numbers are in this file, stored in an ordinary way. */
static bool is_stored_plainly(hid_t dataset) {
    hid_t list = H5Dget_create_plist(dataset);
    H5D_layout_t layout = list >= 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR;
    bool plain = (layout == H5D_CONTIGUOUS || layout == H5D_COMPACT || layout == H5D_CHUNKED) &&
                 H5Pget_external_count(list) == 0;
    int filters = plain ? H5Pget_nfilters(list) : 0;
    for (int i = 0; i < filters && plain; i++) {
        unsigned flags = 0;
        size_t no_values = 0;
        H5Z_filter_t filter = H5Pget_filter2(list, (unsigned)i, &flags, &no_values, NULL, 0, NULL, NULL);
        plain =
            filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32;
    }
    H5Pclose(list);
    return plain && filters >= 0;
}

static bool read_shape(hid_t dataset, size_t shape[WEIGHT_ARRAY_RANK_LIMIT], size_t *rank) {
    hsize_t extents[WEIGHT_ARRAY_RANK_LIMIT] = {0}, elements = 1;
    hid_t space = H5Dget_space(dataset);
    int dimensions = H5Sget_simple_extent_ndims(space);
    bool good = dimensions >= 0 && dimensions <= WEIGHT_ARRAY_RANK_LIMIT &&
                H5Sget_simple_extent_dims(space, extents, NULL) == dimensions;
    for (int i = 0; i < dimensions && good; i++) {
        good = extents[i] > 0 && extents[i] <= WEIGHT_EXCHANGE_ELEMENTS_LIMIT / elements;
        elements *= good ? extents[i] : 1;
        shape[i] = (size_t)extents[i];
    }
    *rank = good ? (size_t)dimensions : 0;
    H5Sclose(space);
    return good;
}

static bool read_dataset(hid_t dataset, const char *name, size_t *elements_left, struct weight_arrays *arrays,
                         struct error *error) {
    size_t shape[WEIGHT_ARRAY_RANK_LIMIT] = {0}, rank = 0;
    hid_t type = H5Dget_type(dataset);
    bool is_float = H5Tget_class(type) == H5T_FLOAT;
    H5Tclose(type);
    if (!is_float || !is_stored_plainly(dataset) || !read_shape(dataset, shape, &rank))
        return error_set(
            error, ERROR_INVALID,
            "the array %s must contain floats in at most %d dimensions, stored in this file itself", name,
            WEIGHT_ARRAY_RANK_LIMIT);
    struct weight_array *array = weight_arrays_add(arrays, name, shape, rank, error);
    if (array == NULL)
        return false;
    if (array->count > *elements_left)
        return error_set(error, ERROR_INVALID, "its arrays contain more than %d numbers",
                         WEIGHT_EXCHANGE_ELEMENTS_LIMIT);
    *elements_left -= array->count;
    if (H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, array->values) < 0)
        return error_set(error, ERROR_INVALID, "the array %s is damaged or incomplete", name);
    return true;
}

static bool read_layer(hid_t file, const char *layer, size_t *elements_left, struct weight_arrays *arrays,
                       struct error *error) {
    hid_t group = H5Gopen2(file, layer, H5P_DEFAULT);
    if (group < 0)
        return error_set(error, ERROR_INVALID, "the layer %s is missing or damaged", layer);
    struct name_list weights = {0};
    bool good = read_names(group, "weight_names", &weights, error);
    for (size_t i = 0; i < weights.count && good; i++) {
        hid_t dataset = H5Dopen2(group, weights.names[i], H5P_DEFAULT);
        if (dataset < 0) {
            good = error_set(error, ERROR_INVALID, "the array %s is missing or damaged", weights.names[i]);
            break;
        }
        good = read_dataset(dataset, weights.names[i], elements_left, arrays, error);
        H5Dclose(dataset);
    }
    free(weights.names);
    H5Gclose(group);
    return good;
}

/* Opens the bytes as a file in memory. The library copies them, although its parameter is not const. */
static hid_t open_image(const void *bytes, size_t size) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    if (H5Pset_fapl_core(access, IMAGE_INCREMENT, 0) >= 0 &&
        H5Pset_file_image(access, (void *)bytes, size) >= 0)
        file = H5Fopen("weights", H5F_ACC_RDONLY, access);
    H5Pclose(access);
    return file;
}

bool keras_file_read(const void *bytes, size_t size, struct weight_arrays *arrays, struct error *error) {
    if (H5open() < 0)
        return error_set(error, ERROR_UNAVAILABLE, "cannot initialise the HDF5 library");
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    hid_t file = open_image(bytes, size);
    if (file < 0)
        return error_set(error, ERROR_INVALID, "the HDF5 file is damaged or incomplete");
    struct name_list layers = {0};
    size_t elements_left = WEIGHT_EXCHANGE_ELEMENTS_LIMIT;
    bool good = read_names(file, "layer_names", &layers, error);
    for (size_t i = 0; i < layers.count && good; i++)
        good = read_layer(file, layers.names[i], &elements_left, arrays, error);
    free(layers.names);
    H5Fclose(file);
    return good;
}
