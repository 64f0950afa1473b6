/* Retrieval with random weights and files made up in memory: splits, cache, threads, and every error. */
#include "core/parameters/parse.h"
#include "core/pretrained/nearest.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/core/pretrained/random_weights.h"
#include "tests/unit/core/tasks/idx_bytes.h"
#include "tests/unit/main.h"

#include <pthread.h>
#include <stdio.h>

enum { IMAGES = 230, ROWS = 6, COLUMNS = 5, PIXELS = ROWS * COLUMNS, CLASSES = 4, CACHE_ENTRIES = 16 };

/* Stands in for the server: three files and a cache. */
struct fake_source {
    struct idx_bytes weights, images, labels;
    size_t decoded;
    struct {
        char key[160];
        void *bytes;
        size_t size;
    } cache[CACHE_ENTRIES];
    size_t cached;
};

static struct fake_source source;
static struct result_tree tree;

static bool read_file(void *owner, const char *name, void **bytes, size_t *size, struct error *error) {
    struct fake_source *self = owner;
    const struct idx_bytes *file = strstr(name, "weights") != NULL  ? &self->weights
                                   : strstr(name, "images") != NULL ? &self->images
                                   : strstr(name, "labels") != NULL ? &self->labels
                                                                    : NULL;
    if (file == NULL || file->bytes == NULL)
        return error_set(error, ERROR_MISSING, "there is no file %s in the data directory (/data)", name);
    *bytes = malloc(file->size);
    ck_assert_ptr_nonnull(*bytes);
    memcpy(*bytes, file->bytes, file->size);
    *size = file->size;
    return true;
}

/* The file's first byte is the seed of the weights. */
static bool decode_weights(void *owner, const void *bytes, size_t size, const struct stop_request *stop,
                           struct weight_arrays *arrays, struct error *error) {
    (void)stop;
    struct fake_source *self = owner;
    self->decoded++;
    const unsigned char *seed = bytes;
    if (size != 1)
        return error_set(error, ERROR_INVALID, "it is not an HDF5 file");
    struct numpy_generator generator;
    numpy_generator_seed(&generator, *seed);
    *arrays = random_weights(&mobilenet_v2_shape, &generator);
    return true;
}

static bool cache_get(void *owner, const char *key, void **bytes, size_t *size) {
    struct fake_source *self = owner;
    for (size_t i = 0; i < self->cached; i++)
        if (strcmp(self->cache[i].key, key) == 0) {
            *bytes = malloc(self->cache[i].size);
            ck_assert_ptr_nonnull(*bytes);
            memcpy(*bytes, self->cache[i].bytes, self->cache[i].size);
            *size = self->cache[i].size;
            return true;
        }
    return false;
}

static void cache_put(void *owner, const char *key, const void *bytes, size_t size) {
    struct fake_source *self = owner;
    ck_assert_uint_lt(self->cached, CACHE_ENTRIES);
    snprintf(self->cache[self->cached].key, sizeof self->cache[0].key, "%s", key);
    void *copy = malloc(size);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, bytes, size);
    self->cache[self->cached].bytes = copy;
    self->cache[self->cached++].size = size;
}

static struct data_source fake_data(void) {
    return (struct data_source){.owner = &source,
                                .read_file = read_file,
                                .decode_weights = decode_weights,
                                .cache_get = cache_get,
                                .cache_put = cache_put};
}

static void setup(void) {
    static uint8_t pixels[IMAGES * PIXELS], labels[IMAGES];
    struct numpy_generator generator;
    numpy_generator_seed(&generator, 3);
    for (size_t i = 0; i < IMAGES; i++) {
        labels[i] = (uint8_t)(i % CLASSES);
        /* Each class has its own bright row. */
        for (size_t j = 0; j < PIXELS; j++)
            pixels[i * PIXELS + j] =
                (uint8_t)(numpy_integer(&generator, 0, 60) + (j / COLUMNS == labels[i] ? 120 : 0));
    }
    source.images = idx_bytes_make((const size_t[]){IMAGES, ROWS, COLUMNS}, 3, pixels, sizeof pixels);
    source.labels = idx_bytes_make((const size_t[]){IMAGES}, 1, labels, sizeof labels);
    source.weights = (struct idx_bytes){calloc(1, 1), 1};
    ck_assert_ptr_nonnull(source.weights.bytes);
}

static void teardown(void) {
    free(source.images.bytes);
    free(source.labels.bytes);
    free(source.weights.bytes);
    for (size_t i = 0; i < source.cached; i++)
        free(source.cache[i].bytes);
    source = (struct fake_source){0};
    result_tree_free(&tree);
}

/* Checks the parameters against the fake files, as experiment_prepare does for a request. */
static void prepare_within(unsigned long long memory_limit, const char *const *settings,
                           struct parameter_set *set, struct parameter_faults *faults) {
    struct error error = {0};
    struct data_source data = fake_data();
    ck_assert(parameter_set_init(set, experiment_retrieval.parameters, experiment_retrieval.parameter_count,
                                 &error));
    for (; settings != NULL && *settings != NULL; settings += 2)
        parameter_set_from_text(set, (size_t)parameter_find(set, settings[0]), settings[1], faults);
    ck_assert(experiment_prepare(&experiment_retrieval, set, &data, memory_limit, faults, &error));
}

static void prepare(const char *const *settings, struct parameter_set *set, struct parameter_faults *faults) {
    prepare_within(TEST_MEMORY_LIMIT, settings, set, faults);
}

static bool run_with(const char *const *settings, const struct parallel_executor *parallel,
                     struct error *error) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare(settings, &set, &faults);
    ck_assert_msg(faults.count == 0, "%s", faults.count > 0 ? faults.items[0].message : "");
    result_tree_free(&tree);
    struct experiment_context context = test_context(&set, &tree);
    context.data = fake_data();
    if (parallel != NULL)
        context.host.parallel = *parallel;
    bool good = experiment_retrieval.run(&context, error);
    parameter_set_free(&set);
    return good;
}

static void run_well(const char *const *settings, const struct parallel_executor *parallel) {
    struct error error = {0};
    ck_assert_msg(run_with(settings, parallel, &error), "%s", error.message);
}

static void assert_fails(const char *const *settings, const char *message) {
    struct error error = {0};
    ck_assert(!run_with(settings, NULL, &error));
    ck_assert_str_eq(error.message, message);
}

#define SMALL "size", "32", "queries", "20", "database", "100"

START_TEST(one_split_takes_the_first_images) {
    run_well(SETTINGS(SMALL, "examples", "3"), NULL);
    ck_assert(result_tree_value(&tree, "rows.1.top1") == 1);
    ck_assert_int_eq(result_tree_get(&tree, "rows.1.spread")->kind, RESULT_NULL);
    ck_assert(result_tree_value(&tree, "rows.1.standard_error") == 0);
    ck_assert(result_tree_value(&tree, "rows.0.dimensions") == 1280);
    ck_assert(result_tree_value(&tree, "rows.1.dimensions") == PIXELS);
    ck_assert(result_tree_value(&tree, "chance") == 0.25);
    ck_assert(result_tree_value(&tree, "parameter_count") == 2257984);
    ck_assert(result_tree_value(&tree, "agreement.both") +
                  result_tree_value(&tree, "agreement.only_raw_pixels") ==
              20);
    ck_assert_uint_eq(result_tree_length(&tree, "neighbours"), 3);
    ck_assert(result_tree_value(&tree, "neighbours.2.query.index") == 2);
    ck_assert(result_tree_value(&tree, "neighbours.2.query.label") == 2);
    for (int i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "neighbours.2.raw_pixels.%d", i);
        ck_assert_uint_eq(result_tree_length(&tree, path), 5);
        snprintf(path, sizeof path, "neighbours.2.raw_pixels.%d.index", i);
        double index = result_tree_value(&tree, path);
        ck_assert_double_ge(index, 20);
        ck_assert_double_lt(index, 120);
        snprintf(path, sizeof path, "neighbours.2.raw_pixels.%d.database_index", i);
        ck_assert(result_tree_value(&tree, path) == index - 20);
    }
    ck_assert(result_tree_value(&tree, "neighbours.2.raw_pixels.0.right") == 1);
    /* Four characters of base64 encode three bytes, so these are pixels 6 to 8. */
    const char *pixels = result_tree_get(&tree, "images.0.pixels")->text;
    ck_assert_uint_eq(strlen(pixels), (PIXELS + 2) / 3 * 4);
    struct result_tree bytes = {0};
    struct result_sink sink = result_tree_sink(&bytes);
    ck_assert(result_bytes(&sink, NULL, source.images.bytes + 16 + 6, 3, NULL));
    ck_assert_mem_eq(pixels + 8, result_tree_get(&bytes, "")->text, 4);
    result_tree_free(&bytes);
}
END_TEST

START_TEST(only_fashion_mnists_classes_have_names) {
    /* The first labels of its training set. */
    static const char labels[] = "90030272550955791064314843024453660852166795927303"
                                 "33722668335055020041316314461913579717999329364118";
    run_well(SETTINGS(SMALL), NULL);
    ck_assert_uint_eq(result_tree_length(&tree, "class_names"), CLASSES);
    ck_assert_str_eq(result_tree_get(&tree, "class_names.3")->text, "class 3");
    for (size_t i = 0; labels[i] != '\0'; i++)
        source.labels.bytes[8 + i] = (unsigned char)(labels[i] - '0');
    run_well(SETTINGS(SMALL), NULL);
    ck_assert_uint_eq(result_tree_length(&tree, "class_names"), 10);
    ck_assert_str_eq(result_tree_get(&tree, "class_names.9")->text, "Ankle boot");
    source.labels.bytes[8 + 50]++;
    run_well(SETTINGS(SMALL), NULL);
    ck_assert_str_eq(result_tree_get(&tree, "class_names.9")->text, "class 9");
}
END_TEST

START_TEST(the_database_may_come_first) {
    run_well(SETTINGS(SMALL, "database_first", "true"), NULL);
    ck_assert(result_tree_value(&tree, "neighbours.0.query.index") == 100);
    ck_assert(result_tree_value(&tree, "neighbours.0.raw_pixels.0.index") ==
              result_tree_value(&tree, "neighbours.0.raw_pixels.0.database_index"));
}
END_TEST

/* numpy.random.default_rng(5).permutation(230): the queries, then the database. */
START_TEST(several_splits_are_numpys_permutations) {
    run_well(SETTINGS(SMALL, "splits", "3", "seed", "5", "pool", "230"), NULL);
    struct numpy_generator generator;
    size_t permutation[IMAGES];
    numpy_generator_seed(&generator, 5);
    numpy_permutation(&generator, permutation, IMAGES);
    ck_assert(result_tree_value(&tree, "neighbours.4.query.index") == (double)permutation[4]);
    size_t nearest = (size_t)result_tree_value(&tree, "neighbours.4.raw_pixels.0.database_index");
    ck_assert(result_tree_value(&tree, "neighbours.4.raw_pixels.0.index") ==
              (double)permutation[20 + nearest]);
    ck_assert_uint_eq(result_tree_length(&tree, "rows.0.top1_by_split"), 3);
    double a = result_tree_value(&tree, "rows.0.top1_by_split.0"),
           b = result_tree_value(&tree, "rows.0.top1_by_split.1"),
           c = result_tree_value(&tree, "rows.0.top1_by_split.2"), mean = (a + b + c) / 3;
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.top1"), mean, 1e-12);
    ck_assert_double_eq_tol(
        result_tree_value(&tree, "rows.0.spread"),
        sqrt(((a - mean) * (a - mean) + (b - mean) * (b - mean) + (c - mean) * (c - mean)) / 2), 1e-12);
    ck_assert_uint_eq(result_tree_length(&tree, "neighbours"), 20);
}
END_TEST

/* With few queries and even fewer images to choose from, splits differ in the number of hits. */
START_TEST(the_spread_is_that_of_the_splits) {
    enum { SPLITS = 8, QUERIES = 7 };
    run_well(SETTINGS("size", "32", "queries", "7", "database", "2", "splits", "8", "pool", "230"), NULL);
    for (int row = 0; row < 2; row++) {
        char path[64];
        double top1[SPLITS], mean = 0, squares = 0;
        for (int i = 0; i < SPLITS; i++) {
            snprintf(path, sizeof path, "rows.%d.top1_by_split.%d", row, i);
            top1[i] = result_tree_value(&tree, path);
            mean += top1[i] / SPLITS;
        }
        for (int i = 0; i < SPLITS; i++)
            squares += (top1[i] - mean) * (top1[i] - mean);
        ck_assert_double_gt(squares, 0);
        snprintf(path, sizeof path, "rows.%d.spread", row);
        ck_assert_double_eq_tol(result_tree_value(&tree, path), sqrt(squares / (SPLITS - 1)), 1e-12);
        snprintf(path, sizeof path, "rows.%d.standard_error", row);
        ck_assert_double_eq_tol(result_tree_value(&tree, path), sqrt(mean * (1 - mean) / QUERIES), 1e-12);
    }
}
END_TEST

START_TEST(embeddings_are_cached_for_the_next_run) {
    run_well(SETTINGS(SMALL), NULL);
    ck_assert(result_tree_value(&tree, "embedded") == 200);
    double similarity = result_tree_value(&tree, "neighbours.0.mobilenet_v2.0.similarity");
    run_well(SETTINGS(SMALL), NULL);
    ck_assert(result_tree_value(&tree, "embedded") == 0);
    ck_assert_uint_eq(source.decoded, 1);
    ck_assert(result_tree_value(&tree, "neighbours.0.mobilenet_v2.0.similarity") == similarity);
    ck_assert(result_tree_value(&tree, "parameter_count") == 2257984);
    /* More images need only the missing block. Other weights, images or sizes need all embeddings again. */
    run_well(SETTINGS("size", "32", "queries", "20", "database", "210"), NULL);
    ck_assert(result_tree_value(&tree, "embedded") == 30);
    source.weights.bytes[0] = 9;
    run_well(SETTINGS(SMALL), NULL);
    ck_assert(result_tree_value(&tree, "embedded") == 200);
    ck_assert(result_tree_value(&tree, "neighbours.0.mobilenet_v2.0.similarity") != similarity);
    source.images.bytes[16]++;
    run_well(SETTINGS(SMALL), NULL);
    ck_assert(result_tree_value(&tree, "embedded") == 200);
    run_well(SETTINGS("size", "33", "queries", "20", "database", "100"), NULL);
    ck_assert(result_tree_value(&tree, "embedded") == 200);
}
END_TEST

struct share {
    void (*work)(void *argument, size_t index);
    void *argument;
    size_t count, first, step;
};

static void *do_share(void *argument) {
    struct share *share = argument;
    for (size_t i = share->first; i < share->count; i += share->step)
        share->work(share->argument, i);
    return NULL;
}

static void run_on_three_threads(void *owner, size_t count, void (*work)(void *argument, size_t index),
                                 void *argument) {
    *(size_t *)owner += count;
    pthread_t threads[3];
    struct share shares[3];
    for (size_t i = 0; i < 3; i++) {
        shares[i] = (struct share){work, argument, count, i, 3};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, do_share, &shares[i]), 0);
    }
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

START_TEST(threads_do_not_change_a_bit) {
    run_well(SETTINGS(SMALL), NULL);
    size_t spread_out = 0;
    struct parallel_executor parallel = {.owner = &spread_out, .run = run_on_three_threads};
    struct fake_source alone = source;
    source.cached = 0;
    run_well(SETTINGS(SMALL), &parallel);
    ck_assert_uint_gt(spread_out, 0);
    ck_assert_uint_eq(source.cached, 1);
    ck_assert_str_eq(source.cache[0].key, alone.cache[0].key);
    ck_assert_int_eq(memcmp(source.cache[0].bytes, alone.cache[0].bytes, alone.cache[0].size), 0);
    free(alone.cache[0].bytes);
}
END_TEST

START_TEST(missing_files_are_named_with_their_source) {
    free(source.weights.bytes);
    free(source.labels.bytes);
    source.weights.bytes = source.labels.bytes = NULL;
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare(NULL, &set, &faults);
    ck_assert_uint_eq(faults.count, 2);
    ck_assert_str_eq(faults.items[0].field, "weights");
    ck_assert_str_eq(
        faults.items[0].message,
        "there is no file mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_96_no_top.h5 in the data "
        "directory (/data): download "
        "https://storage.googleapis.com/tensorflow/keras-applications/mobilenet_v2/"
        "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_96_no_top.h5 and put it there");
    ck_assert_str_eq(faults.items[1].field, "labels");
    ck_assert_str_eq(faults.items[1].message,
                     "there is no file train-labels-idx1-ubyte.gz in the data directory (/data): download "
                     "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/train-labels-idx1-ubyte.gz "
                     "and put it there");
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}
END_TEST

START_TEST(values_must_fit_together) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare(SETTINGS("splits", "2", "pool", "1199", "database_first", "true"), &set, &faults);
    ck_assert_uint_eq(faults.count, 2);
    ck_assert_str_eq(faults.items[0].message,
                     "must be at least queries and database together, 1200; got 1199");
    ck_assert_str_eq(faults.items[1].message, "applies only to one split; got 2 splits");
    parameter_set_free(&set);
    parameter_faults_free(&faults);
    faults = (struct parameter_faults){0};
    prepare(SETTINGS("queries", "1000", "database", "9000"), &set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    ck_assert_int_eq(parameter_integer(&set, "pool"), 10000);
    parameter_set_free(&set);
}
END_TEST

/* The published files and the network take 84 MB. An image of the database takes twice its pixels and twice
 * its embedding, as floats. */
START_TEST(a_run_that_would_take_too_much_memory_is_refused) {
    static const struct {
        unsigned long long limit;
        const char *settings[7], *field;
    } cases[] = {
        {140000000, {NULL}, NULL},
        {100000000, {NULL}, "database"},
        {290000000, {"queries", "1000", "database", "9000"}, NULL},
        {250000000, {"queries", "1000", "database", "9000"}, "database"},
        {215000000, {"splits", "5", "pool", "10000"}, NULL},
        {180000000, {"splits", "5", "pool", "10000"}, "pool"},
        {130000000, {"size", "224"}, "size"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parameter_set set;
        struct parameter_faults faults = {0};
        prepare_within(cases[i].limit, cases[i].settings, &set, &faults);
        ck_assert_uint_eq(faults.count, cases[i].field != NULL);
        if (faults.count > 0) {
            ck_assert_str_eq(faults.items[0].field, cases[i].field);
            ck_assert_ptr_nonnull(strstr(faults.items[0].message, "is too large: the run would take "));
        }
        parameter_faults_free(&faults);
        parameter_set_free(&set);
    }
}
END_TEST

START_TEST(bad_files_end_the_run_with_a_reason) {
    assert_fails(
        SETTINGS("size", "32", "queries", "31", "database", "200"),
        "queries and database together must be at most 230, the number of images in the file; got 231");
    source.images.size--;
    assert_fails(SETTINGS(SMALL), "the file train-images-idx3-ubyte.gz is incomplete: it ends too early");
    source.images.size++;
    struct idx_bytes labels = source.labels, images = source.images;
    source.labels = source.images;
    assert_fails(SETTINGS(SMALL),
                 "the file train-labels-idx1-ubyte.gz must have one label for each of the 230 images");
    source.labels = source.images = labels;
    assert_fails(SETTINGS(SMALL),
                 "the file train-images-idx3-ubyte.gz must have 3 dimensions (images, rows, columns); got 1");
    source.images = images;
    source.weights.size = 0;
    assert_fails(SETTINGS(SMALL), "the weight file cannot be used: it is not an HDF5 file");
    source.weights.size = 1;
    run_well(SETTINGS(SMALL), NULL);
}
END_TEST

START_TEST(a_cancelled_run_reports_it) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct error error = {0};
    prepare(SETTINGS(SMALL), &set, &faults);
    struct experiment_context context = test_context(&set, &tree);
    context.data = fake_data();
    context.host.stop.is_requested = test_always_cancelled;
    ck_assert(!experiment_retrieval.run(&context, &error));
    ck_assert_int_eq(error.code, ERROR_CANCELLED);
    parameter_set_free(&set);
}
END_TEST

START_TEST(the_nearest_and_of_equals_the_lower_row_come_first) {
    float database[] = {1, 0, 0, 1, 3, 4, 0, 2, 0, 0}, queries[] = {0, 5, 0, 0}, workspace[NEAREST_BATCH * 5];
    struct neighbour neighbours[2 * 3];
    nearest_normalize_rows(database, 5, 2);
    nearest_normalize_rows(queries, 2, 2);
    nearest_find(queries, 2, database, 5, 2, 3, workspace, neighbours);
    const size_t expected[] = {1, 3, 2, 0, 1, 2};
    for (size_t i = 0; i < 6; i++)
        ck_assert_uint_eq(neighbours[i].index, expected[i]);
    ck_assert_float_eq_tol(neighbours[0].similarity, 1, 1e-6f);
    ck_assert_float_eq_tol(neighbours[2].similarity, 0.8f, 1e-6f);
    ck_assert_float_eq(neighbours[3].similarity, 0);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, one_split_takes_the_first_images);
    tcase_add_test(tests, only_fashion_mnists_classes_have_names);
    tcase_add_test(tests, the_database_may_come_first);
    tcase_add_test(tests, several_splits_are_numpys_permutations);
    tcase_add_test(tests, the_spread_is_that_of_the_splits);
    tcase_add_test(tests, embeddings_are_cached_for_the_next_run);
    tcase_add_test(tests, threads_do_not_change_a_bit);
    tcase_add_test(tests, missing_files_are_named_with_their_source);
    tcase_add_test(tests, values_must_fit_together);
    tcase_add_test(tests, a_run_that_would_take_too_much_memory_is_refused);
    tcase_add_test(tests, bad_files_end_the_run_with_a_reason);
    tcase_add_test(tests, a_cancelled_run_reports_it);
    tcase_add_test(tests, the_nearest_and_of_equals_the_lower_row_come_first);
}
