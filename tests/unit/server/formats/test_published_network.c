/* Retrieval with the published network and images, compared with PyTorch's results.
 *
 * The files are in the folders ATTNLAB_ASSETS and ATTNLAB_REFERENCE (defaults: ../shared/assets and
 * ../shared, from the project's folder). If they are absent, the tests say so and are skipped. */
#include "core/experiments/image_embeddings.h"
#include "core/parameters/parse.h"
#include "server/formats/keras_weights.h"
#include "server/system/file.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <jansson.h>
#include <stdio.h>

enum { PATH_SIZE = 1024, FIRST_IMAGES = 4, DIMENSIONS = 1280, FIRST_QUERIES = 20 };

static struct result_tree tree;

static const char *setting(const char *variable, const char *usual) {
    const char *value = getenv(variable);
    return value != NULL && *value != '\0' ? value : usual;
}

static bool read_asset(void *owner, const char *name, void **bytes, size_t *size, struct error *error) {
    (void)owner;
    const char *folder = strstr(name, ".h5") != NULL ? "mobilenet_v2" : "fashion_mnist";
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s/%s", setting("ATTNLAB_ASSETS", "../shared/assets"), folder, name);
    return file_read(path, bytes, size, error);
}

static const struct data_source assets = {.read_file = read_asset, .decode_weights = keras_weights_decode};

/* Whether the files are absent. Prints a message then; the test must end. */
static bool is_skipped(void) {
    static const char *const names[] = {IMAGE_FILES_WEIGHTS, IMAGE_FILES_IMAGES, IMAGE_FILES_LABELS};
    for (size_t i = 0; i < 3; i++) {
        void *bytes = NULL;
        size_t size = 0;
        struct error error = {0};
        bool found = read_asset(NULL, names[i], &bytes, &size, &error);
        free(bytes);
        if (!found) {
            printf("skipped: retrieval with the published network: %s\n", error.message);
            return true;
        }
    }
    return false;
}

static void prepare(const char *const *settings, struct parameter_set *set) {
    struct parameter_faults faults = {0};
    struct error error = {0};
    ck_assert(parameter_set_init(set, experiment_retrieval.parameters, experiment_retrieval.parameter_count,
                                 &error));
    for (; settings != NULL && *settings != NULL; settings += 2)
        parameter_set_from_text(set, (size_t)parameter_find(set, settings[0]), settings[1], &faults);
    ck_assert(experiment_prepare(&experiment_retrieval, set, &assets, TEST_MEMORY_LIMIT, &faults, &error));
    ck_assert_uint_eq(faults.count, 0);
}

static void run_with(const char *const *settings) {
    struct parameter_set set;
    struct error error = {0};
    prepare(settings, &set);
    result_tree_free(&tree);
    struct experiment_context context = test_context(&set, &tree);
    context.data = assets;
    ck_assert_msg(experiment_retrieval.run(&context, &error), "%s", error.message);
    parameter_set_free(&set);
}

static void check_split(double mobilenet, double pixels, const int *nearest_mobilenet,
                        const int *nearest_pixels) {
    ck_assert(result_tree_value(&tree, "rows.0.top1") == mobilenet);
    ck_assert(result_tree_value(&tree, "rows.1.top1") == pixels);
    ck_assert(result_tree_value(&tree, "chance") == 0.1);
    ck_assert_str_eq(result_tree_get(&tree, "class_names.9")->text, "Ankle boot");
    for (int i = 0; i < FIRST_QUERIES; i++) {
        char path[64];
        snprintf(path, sizeof path, "neighbours.%d.mobilenet_v2.0.database_index", i);
        ck_assert_int_eq((int)result_tree_value(&tree, path), nearest_mobilenet[i]);
        snprintf(path, sizeof path, "neighbours.%d.raw_pixels.0.database_index", i);
        ck_assert_int_eq((int)result_tree_value(&tree, path), nearest_pixels[i]);
    }
}

START_TEST(queries_first) {
    static const int mobilenet[] = {231, 612, 871, 445, 488, 773, 312, 425, 747, 574,
                                    445, 790, 752, 381, 648, 724, 325, 72,  31,  745};
    static const int pixels[] = {8,   541, 871, 326, 174, 384, 418, 782, 574, 269,
                                 629, 931, 333, 334, 318, 95,  717, 72,  555, 55};
    if (is_skipped())
        return;
    run_with(NULL);
    check_split(0.82, 0.785, mobilenet, pixels);
}
END_TEST

START_TEST(database_first) {
    static const int mobilenet[] = {379, 281, 276, 623, 772, 791, 569, 552, 360, 75,
                                    233, 976, 30,  825, 269, 144, 644, 285, 513, 514};
    static const int pixels[] = {379, 507, 970, 960, 817, 766, 30,  792, 492, 966,
                                 220, 455, 30,  519, 128, 99,  799, 391, 431, 143};
    if (is_skipped())
        return;
    run_with(SETTINGS("database_first", "true"));
    check_split(0.73, 0.775, mobilenet, pixels);
}
END_TEST

/* Within 1e-3 of each embedding's largest number. */
static void check_embedding(const float *embedding, const json_t *expected) {
    double largest = 0;
    ck_assert_uint_eq(json_array_size(expected), DIMENSIONS);
    for (size_t i = 0; i < DIMENSIONS; i++)
        largest = fmax(largest, json_number_value(json_array_get(expected, i)));
    for (size_t i = 0; i < DIMENSIONS; i++) {
        double wanted = json_number_value(json_array_get(expected, i));
        if (!(fabs((double)embedding[i] - wanted) <= 1e-3 * largest))
            ck_abort_msg("[%zu] is %.9g, not %.9g", i, (double)embedding[i], wanted);
    }
}

START_TEST(embeddings_match_pytorch) {
    char path[PATH_SIZE];
    if (is_skipped())
        return;
    snprintf(path, sizeof path, "%s/reference/retrieval.json", setting("ATTNLAB_REFERENCE", "../shared"));
    json_t *reference = json_load_file(path, 0, NULL);
    if (reference == NULL) {
        printf("skipped: PyTorch's embeddings are not there: %s\n", path);
        return;
    }
    struct parameter_set set;
    struct image_files files = {0};
    struct image_embeddings embeddings;
    struct error error = {0};
    prepare(NULL, &set);
    struct experiment_context context = test_context(&set, &tree);
    context.data = assets;
    ck_assert_msg(image_files_read(&files, &set, &assets, &error), "%s", error.message);
    ck_assert_msg(image_embeddings_compute(&embeddings, &files, FIRST_IMAGES, 96, &context, &error), "%s",
                  error.message);
    ck_assert_uint_eq(embeddings.parameter_count,
                      (size_t)json_integer_value(json_object_get(reference, "parameters")));
    for (size_t i = 0; i < FIRST_IMAGES; i++)
        check_embedding(embeddings.values + i * DIMENSIONS,
                        json_array_get(json_object_get(reference, "embeddings_first_4_images"), i));
    image_embeddings_free(&embeddings);
    image_files_free(&files);
    parameter_set_free(&set);
    json_decref(reference);
}
END_TEST

/* The published file, cut off at many lengths. */
START_TEST(a_truncated_download_is_refused) {
    void *bytes = NULL;
    size_t size = 0;
    struct error missing = {0};
    if (is_skipped())
        return;
    ck_assert(read_asset(NULL, IMAGE_FILES_WEIGHTS, &bytes, &size, &missing));
    for (size_t eighth = 0; eighth < 8; eighth++) {
        struct weight_arrays arrays = {0};
        struct error error = {0};
        ck_assert(!keras_weights_decode(NULL, bytes, size / 8 * eighth, NULL, &arrays, &error));
        ck_assert_str_eq(error.message,
                         eighth == 0 ? "it is not an HDF5 file" : "the HDF5 file is damaged or incomplete");
    }
    free(bytes);
}
END_TEST

static void teardown(void) {
    result_tree_free(&tree);
}

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 300);
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, queries_first);
    tcase_add_test(tests, database_first);
    tcase_add_test(tests, embeddings_match_pytorch);
    tcase_add_test(tests, a_truncated_download_is_refused);
}
