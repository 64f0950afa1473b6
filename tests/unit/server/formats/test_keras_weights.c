/* Keras weight files: good ones, unusual ones, damaged ones; and the answers of the helper that reads them.
 */
#include "server/formats/keras_weights.h"
#include "server/formats/weight_exchange.h"
#include "server/system/version.h"
#include "tests/unit/main.h"

#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IMAGE_INCREMENT = 4096, ROWS = 3, COLUMNS = 4, ANSWER_SIZE = 4096 };

static const float kernel[ROWS * COLUMNS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11.5f};
static const float bias[COLUMNS] = {-1, -2, -3, -4};

/* How the file to write differs from a usual one. */
enum oddity {
    USUAL,
    VARIABLE_STRINGS,
    NO_LAYER_NAMES,
    NUMBERS_AS_NAMES,
    INTEGERS,
    COMPRESSED,
    SCALE_OFFSET,
    EXTERNAL_STORAGE,
    EXTERNAL_LINK,
    VIRTUAL,
    HUGE_ARRAY,
    MISSING_ARRAY
};

struct image {
    void *bytes; /* release with free() */
    size_t size;
};

static void add_names(hid_t object, const char *attribute, const char *const *names, hsize_t count,
                      bool variable) {
    char fixed[4][24] = {""};
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &count, NULL);
    H5Tset_size(type, variable ? H5T_VARIABLE : sizeof fixed[0]);
    for (hsize_t i = 0; i < count; i++)
        strncpy(fixed[i], names[i], sizeof fixed[i] - 1);
    hid_t created = H5Acreate2(object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
    ck_assert_int_ge(H5Awrite(created, type, variable ? (const void *)names : (const void *)fixed), 0);
    H5Aclose(created);
    H5Sclose(space);
    H5Tclose(type);
}

static void add_array(hid_t group, const char *name, const float *values, const hsize_t *shape, int rank,
                      enum oddity oddity) {
    hsize_t huge[2] = {1 << 20, 1 << 20};
    hid_t links = H5Pcreate(H5P_LINK_CREATE), properties = H5Pcreate(H5P_DATASET_CREATE);
    hid_t space = H5Screate_simple(rank, oddity == HUGE_ARRAY ? huge : shape, NULL);
    H5Pset_create_intermediate_group(links, 1);
    if (oddity == COMPRESSED || oddity == SCALE_OFFSET || oddity == HUGE_ARRAY)
        H5Pset_chunk(properties, rank, shape);
    if (oddity == COMPRESSED) {
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, 4);
        H5Pset_fletcher32(properties);
    }
    if (oddity == SCALE_OFFSET)
        H5Pset_scaleoffset(properties, H5Z_SO_FLOAT_DSCALE, 2);
    if (oddity == EXTERNAL_STORAGE)
        H5Pset_external(properties, "/etc/passwd", 0, H5F_UNLIMITED);
    if (oddity == VIRTUAL)
        H5Pset_virtual(properties, space, "/etc/passwd", "data", space);
    hid_t dataset = H5Dcreate2(group, name, oddity == INTEGERS ? H5T_STD_I32LE : H5T_IEEE_F32LE, space, links,
                               properties, H5P_DEFAULT);
    ck_assert_int_ge(dataset, 0);
    if (oddity != HUGE_ARRAY && oddity != VIRTUAL && oddity != EXTERNAL_STORAGE)
        ck_assert_int_ge(H5Dwrite(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(properties);
    H5Pclose(links);
}

/* As Keras writes: a layer without weights and one with two arrays, in an order that is not the alphabet's.
 */
static struct image make_image(enum oddity oddity) {
    const char *const layers[] = {"input", "dense"}, *const weights[] = {"dense/kernel:0", "dense/bias:0"};
    const hsize_t kernel_shape[] = {ROWS, COLUMNS}, bias_shape[] = {COLUMNS};
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, IMAGE_INCREMENT, 0);
    hid_t file = H5Fcreate("made-in-memory", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    ck_assert_int_ge(file, 0);
    hid_t input = H5Gcreate2(file, "input", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t dense = H5Gcreate2(file, "dense", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool variable = oddity == VARIABLE_STRINGS;
    if (oddity == NUMBERS_AS_NAMES) {
        hid_t space = H5Screate(H5S_SCALAR);
        H5Aclose(H5Acreate2(file, "layer_names", H5T_IEEE_F32LE, space, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
    } else if (oddity != NO_LAYER_NAMES) {
        add_names(file, "layer_names", layers, 2, variable);
    }
    add_names(input, "weight_names", weights, 0, false);
    add_names(dense, "weight_names", weights, 2, variable);
    if (oddity == EXTERNAL_LINK)
        H5Lcreate_external("/etc/passwd", "/data", dense, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    add_array(dense, weights[0], kernel, kernel_shape, 2, oddity);
    if (oddity == EXTERNAL_LINK) {
        hid_t inner = H5Gopen2(dense, "dense", H5P_DEFAULT);
        H5Lcreate_external("/etc/passwd", "/data", inner, "bias:0", H5P_DEFAULT, H5P_DEFAULT);
        H5Gclose(inner);
    } else if (oddity != MISSING_ARRAY) {
        add_array(dense, weights[1], bias, bias_shape, 1, USUAL);
    }
    H5Gclose(input);
    H5Gclose(dense);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    ck_assert_int_gt(size, 0);
    struct image image = {malloc((size_t)size), (size_t)size};
    ck_assert_ptr_nonnull(image.bytes);
    ck_assert_int_eq(H5Fget_file_image(file, image.bytes, image.size), size);
    H5Fclose(file);
    H5Pclose(access);
    return image;
}

static void assert_read(enum oddity oddity) {
    struct image image = make_image(oddity);
    struct weight_arrays arrays = {0};
    struct error error = {0};
    ck_assert_msg(keras_weights_decode(NULL, image.bytes, image.size, NULL, &arrays, &error), "%s",
                  error.message);
    ck_assert_uint_eq(arrays.count, 2);
    ck_assert_str_eq(arrays.items[0].name, "dense/kernel:0");
    ck_assert_uint_eq(arrays.items[0].rank, 2);
    ck_assert_uint_eq(arrays.items[0].shape[0], ROWS);
    ck_assert_uint_eq(arrays.items[0].shape[1], COLUMNS);
    ck_assert_int_eq(memcmp(arrays.items[0].values, kernel, sizeof kernel), 0);
    ck_assert_str_eq(arrays.items[1].name, "dense/bias:0");
    ck_assert_uint_eq(arrays.items[1].count, COLUMNS);
    ck_assert_int_eq(memcmp(arrays.items[1].values, bias, sizeof bias), 0);
    weight_arrays_free(&arrays);
    free(image.bytes);
}

START_TEST(files_are_read_in_the_order_of_their_names) {
    assert_read(USUAL);
    assert_read(VARIABLE_STRINGS);
    assert_read(COMPRESSED);
}
END_TEST

static void assert_refused(enum oddity oddity, const char *message) {
    struct image image = make_image(oddity);
    struct weight_arrays arrays = {0};
    struct error error = {0};
    ck_assert(!keras_weights_decode(NULL, image.bytes, image.size, NULL, &arrays, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_str_eq(error.message, message);
    ck_assert_ptr_null(arrays.items);
    free(image.bytes);
}

START_TEST(features_that_no_weight_file_needs_are_refused) {
    const char *not_plain =
        "the array dense/kernel:0 must contain floats in at most 4 dimensions, stored in this file itself";
    assert_refused(NO_LAYER_NAMES,
                   "this is not a Keras weight file, or it is damaged: the attribute layer_names is missing");
    assert_refused(NUMBERS_AS_NAMES, "the attribute layer_names is damaged");
    assert_refused(INTEGERS, not_plain);
    assert_refused(SCALE_OFFSET, not_plain);
    assert_refused(EXTERNAL_STORAGE, not_plain);
    assert_refused(VIRTUAL, not_plain);
    assert_refused(HUGE_ARRAY, not_plain);
    assert_refused(EXTERNAL_LINK, "the array dense/bias:0 is missing or damaged");
    assert_refused(MISSING_ARRAY, "the array dense/bias:0 is missing or damaged");
}
END_TEST

/* Whatever the damage, decoding gives the arrays or a proper error, and this process survives. */
static bool survives(const void *bytes, size_t size) {
    struct weight_arrays arrays = {0};
    struct error error = {0};
    bool good = keras_weights_decode(NULL, bytes, size, NULL, &arrays, &error);
    if (!good && (error.code != ERROR_INVALID || error.message[0] == '\0' || arrays.items != NULL))
        ck_abort_msg("no proper error: %d %s", (int)error.code, error.message);
    weight_arrays_free(&arrays);
    return good;
}

START_TEST(truncated_files_are_refused) {
    struct image image = make_image(USUAL);
    for (size_t size = 0; size < image.size; size += size < 16 ? 1 : 97)
        if (survives(image.bytes, size))
            ck_abort_msg("%zu of %zu bytes were taken for a whole file", size, image.size);
    free(image.bytes);
}
END_TEST

START_TEST(damaged_files_do_no_harm) {
    struct image image = make_image(COMPRESSED);
    unsigned char *bytes = image.bytes;
    for (size_t at = 0; at < image.size; at += 47) {
        unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)(at % 2 ? 0xff : kept ^ (1 << at % 8));
        survives(bytes, image.size);
        bytes[at] = kept;
    }
    ck_assert(survives(bytes, image.size));
    free(image.bytes);
}
END_TEST

START_TEST(other_files_are_reported_as_such) {
    struct weight_arrays arrays = {0};
    struct error error = {0};
    const char page[] = "<!doctype html><title>Not found</title>";
    ck_assert(!keras_weights_decode(NULL, page, sizeof page, NULL, &arrays, &error));
    ck_assert_str_eq(error.message, "it is not an HDF5 file");
}
END_TEST

/* Adds an array of two dimensions with three numbers, and a scalar. */
static void add_arrays(struct weight_arrays *arrays) {
    const size_t shape[] = {3, 1};
    struct weight_array *array = weight_arrays_add(arrays, "kernel", shape, 2, NULL);
    memcpy(array->values, kernel + 1, 3 * sizeof *kernel);
    weight_arrays_add(arrays, "scalar", NULL, 0, NULL)->values[0] = 7;
}

/* The bytes that the helper would write. */
static struct image make_answer(const struct weight_arrays *arrays, const struct error *failure) {
    int ends[2];
    struct image image = {calloc(1, ANSWER_SIZE), 0};
    ck_assert(image.bytes != NULL && pipe(ends) == 0);
    ck_assert(weight_exchange_write(ends[1], arrays, failure));
    close(ends[1]);
    ssize_t size = read(ends[0], image.bytes, ANSWER_SIZE);
    ck_assert_int_gt(size, 0);
    close(ends[0]);
    image.size = (size_t)size;
    return image;
}

START_TEST(an_answer_is_read_as_it_was_written) {
    struct weight_arrays given = {0}, taken = {0};
    struct error error = {0};
    add_arrays(&given);
    struct image image = make_answer(&given, &error);
    ck_assert_msg(weight_exchange_read(image.bytes, image.size, &taken, &error), "%s", error.message);
    ck_assert_uint_eq(taken.count, 2);
    ck_assert_str_eq(taken.items[0].name, "kernel");
    ck_assert_uint_eq(taken.items[0].rank, 2);
    ck_assert_uint_eq(taken.items[0].shape[0], 3);
    ck_assert_int_eq(memcmp(taken.items[0].values, kernel + 1, 3 * sizeof *kernel), 0);
    ck_assert_uint_eq(taken.items[1].rank, 0);
    ck_assert(taken.items[1].values[0] == 7);
    weight_arrays_free(&given);
    weight_arrays_free(&taken);
    free(image.bytes);
}
END_TEST

static void assert_malformed(const void *bytes, size_t size) {
    struct weight_arrays arrays = {0};
    struct error error = {0};
    ck_assert(!weight_exchange_read(bytes, size, &arrays, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_str_eq(error.message, "the reader gave a malformed answer");
    ck_assert_ptr_null(arrays.items);
}

/* An answer may be truncated anywhere, or have more bytes behind it. */
START_TEST(answers_of_another_length_are_refused) {
    const struct error failure = {ERROR_INVALID, "no weights"};
    struct weight_arrays arrays = {0};
    struct error error = {0};
    add_arrays(&arrays);
    struct image answers[] = {make_answer(&arrays, &error), make_answer(&arrays, &failure)};
    for (size_t i = 0; i < 2; i++) {
        for (size_t size = 0; size < answers[i].size; size++)
            assert_malformed(answers[i].bytes, size);
        assert_malformed(answers[i].bytes, answers[i].size + 1);
    }
    weight_arrays_free(&arrays);
    ck_assert(!weight_exchange_read(answers[1].bytes, answers[1].size, &arrays, &error));
    ck_assert_str_eq(error.message, "no weights");
    free(answers[0].bytes);
    free(answers[1].bytes);
}
END_TEST

START_TEST(an_answer_of_another_version_is_named_as_such) {
    struct weight_arrays arrays = {0};
    struct error error = {0};
    add_arrays(&arrays);
    struct image image = make_answer(&arrays, &error);
    weight_arrays_free(&arrays);
    char *version = (char *)image.bytes + 16;
    ck_assert_str_eq(version, ATTNLAB_VERSION);
    version[0]++;
    ck_assert(!weight_exchange_read(image.bytes, image.size, &arrays, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
    ck_assert_str_eq(error.message, "attnlab-hdf5 is of another version than attnlab (" ATTNLAB_VERSION ")");
    ck_assert_ptr_null(arrays.items);
    free(image.bytes);
}
END_TEST

/* Any byte of the headers may be wrong: the reader must not take more bytes than there are. */
START_TEST(answers_with_other_sizes_do_no_harm) {
    struct weight_arrays arrays = {0};
    struct error none = {0};
    add_arrays(&arrays);
    struct image image = make_answer(&arrays, &none);
    unsigned char *bytes = image.bytes;
    size_t refused = 0;
    weight_arrays_free(&arrays);
    for (size_t at = 0; at < image.size; at++) {
        struct error error = {0};
        unsigned char kept = bytes[at];
        bytes[at] = 0xff;
        bool good = weight_exchange_read(bytes, image.size, &arrays, &error);
        ck_assert(good == (error.code == ERROR_NONE) && (good || arrays.items == NULL));
        refused += !good;
        weight_arrays_free(&arrays);
        bytes[at] = kept;
    }
    /* Refused are changes to the signature, to the first header, to two ranks and to the two extents. */
    ck_assert_uint_eq(refused, 2 * 16 + 2 * 8 + 2 * 8 + 2 * 8);
    free(image.bytes);
}
END_TEST

static bool always(void *owner) {
    (void)owner;
    return true;
}

START_TEST(a_stop_request_ends_the_reading) {
    const struct stop_request stop = {.is_requested = always};
    struct image image = make_image(USUAL);
    struct weight_arrays arrays = {0};
    struct error error = {0};
    ck_assert(!keras_weights_decode(NULL, image.bytes, image.size, &stop, &arrays, &error));
    ck_assert_int_eq(error.code, ERROR_CANCELLED);
    ck_assert_ptr_null(arrays.items);
    free(image.bytes);
}
END_TEST

enum { THREADS = 4, READS = 5 };

static void *read_often(void *argument) {
    const struct image *image = argument;
    for (size_t i = 0; i < READS; i++)
        ck_assert(survives(image->bytes, image->size));
    return NULL;
}

START_TEST(threads_read_at_the_same_time) {
    struct image image = make_image(COMPRESSED);
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_often, &image), 0);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    free(image.bytes);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, files_are_read_in_the_order_of_their_names);
    tcase_add_test(tests, features_that_no_weight_file_needs_are_refused);
    tcase_add_test(tests, truncated_files_are_refused);
    tcase_add_test(tests, damaged_files_do_no_harm);
    tcase_add_test(tests, other_files_are_reported_as_such);
    tcase_add_test(tests, an_answer_is_read_as_it_was_written);
    tcase_add_test(tests, answers_of_another_length_are_refused);
    tcase_add_test(tests, an_answer_of_another_version_is_named_as_such);
    tcase_add_test(tests, answers_with_other_sizes_do_no_harm);
    tcase_add_test(tests, a_stop_request_ends_the_reading);
    tcase_add_test(tests, threads_read_at_the_same_time);
}
