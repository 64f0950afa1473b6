/* A run over sequences that are too long for their attention matrix: the memory that training and inspection
 * take, and reading some rows of the matrix and the mean over all queries. */
#include "core/training/inspection.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { LENGTH = 4096, RESIDENT_MAXIMUM = 200000000 };

struct trained {
    struct parameter_set set;
    struct result_tree tree;
    float *weights;
    size_t weight_count;
};

static bool keep_weights(void *owner, const struct epoch_metrics *metrics, const float *weights,
                         size_t weight_count, const void *checkpoint, size_t checkpoint_size,
                         struct error *error) {
    struct trained *trained = owner;
    (void)metrics;
    (void)checkpoint;
    (void)checkpoint_size;
    (void)error;
    trained->weights = realloc(trained->weights, weight_count * sizeof *weights);
    memcpy(trained->weights, weights, weight_count * sizeof *weights);
    trained->weight_count = weight_count;
    return true;
}

static void train(struct trained *trained, const char *const *settings) {
    struct parameter_faults faults = {0};
    struct error error = {0};
    memset(trained, 0, sizeof *trained);
    prepare_experiment(&experiment_train, settings, &trained->set, &faults);
    ck_assert_msg(faults.count == 0, "%s", faults.count > 0 ? faults.items[0].message : "");
    struct experiment_context context = test_context(&trained->set, &trained->tree);
    context.host.listener = (struct run_listener){.owner = trained, .epoch = keep_weights};
    ck_assert_msg(experiment_train.run(&context, &error), "%s", error.message);
}

static void trained_free(struct trained *trained) {
    parameter_set_free(&trained->set);
    result_tree_free(&trained->tree);
    free(trained->weights);
}

static struct inspection *inspect(const struct trained *trained) {
    struct data_source data = {0};
    struct error error = {0};
    struct inspection *inspection = inspection_open(&trained->set, &data, NULL, &error);
    ck_assert_msg(inspection != NULL, "%s", error.message);
    ck_assert(inspection_load_weights(inspection, trained->weights, trained->weight_count, &error));
    return inspection;
}

/* A sanitizer's own memory would falsify the measurement. */
static void check_peak_resident_bytes(void) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    ck_assert_uint_lt((size_t)usage.ru_maxrss * 1024, RESIDENT_MAXIMUM);
#endif
}

static void read_window(struct inspection *inspection, size_t first, size_t count,
                        struct attention_matrix *matrix) {
    struct error error = {0};
    struct attention_window window = {first, count};
    ck_assert_msg(inspection_attention_rows(inspection, 0, 0, INSPECTION_HEAD_MEAN, window, matrix, &error),
                  "%s", error.message);
}

static void check_rows(const struct attention_matrix *matrix) {
    for (size_t i = 0; i < matrix->queries; i++) {
        double sum = 0;
        for (size_t j = 0; j < matrix->keys; j++)
            sum += (double)matrix->weights[i * matrix->keys + j];
        ck_assert_double_le(fabs(sum - 1), 1e-4);
    }
}

/* The score matrices of 8 examples alone would take 537 MB. The process must stay below 200 MB from its start
 * until the last row has been read. */
START_TEST(memory_stays_small) {
    struct trained trained;
    train(&trained, SETTINGS("sequence_length", "4096", "batch_size", "8", "train_examples", "8",
                             "test_examples", "1", "epochs", "1"));
    double mean[LENGTH], sum = 0, rows = 0;
    ck_assert_uint_eq(result_tree_numbers(&trained.tree, "attention.weights", (double)NAN, mean, LENGTH),
                      LENGTH);
    for (size_t j = 0; j < LENGTH; j++)
        sum += mean[j];
    ck_assert_double_le(fabs(sum - 1), 1e-4);

    struct inspection *inspection = inspect(&trained);
    struct attention_matrix matrix;
    read_window(inspection, 4000, 3, &matrix);
    ck_assert(matrix.queries == 3 && matrix.keys == LENGTH && matrix.first_query == 4000);
    ck_assert_uint_eq(matrix.all_queries, LENGTH);
    ck_assert_str_eq(matrix.query_labels[0], "4000");
    ck_assert_str_eq(matrix.key_labels[0], "0");
    check_rows(&matrix);
    float kept = matrix.weights[2 * LENGTH + 7];
    read_window(inspection, 4002, 0, &matrix);
    ck_assert_uint_eq(matrix.queries, LENGTH - 4002);
    ck_assert(fabsf(matrix.weights[7] - kept) <= 1e-6F * kept);
    /* The mean over the queries is the mean of all windows. */
    for (size_t first = 0; first < LENGTH; first += matrix.queries) {
        read_window(inspection, first, 0, &matrix);
        ck_assert(matrix.queries * matrix.keys <= 1 << 20);
        for (size_t i = 0; i < matrix.queries; i++)
            rows += (double)matrix.weights[i * LENGTH + 5] / LENGTH;
    }
    ck_assert_double_le(fabs(rows - mean[5]), 1e-6 * mean[5]);

    struct error error = {0};
    ck_assert(
        !inspection_attention_rows(inspection, 0, 0, 0, (struct attention_window){0, 2000}, &matrix, &error));
    ck_assert_str_eq(error.message, "query_count must be at most 256 for sequences this long; got 2000");
    error.code = ERROR_NONE;
    ck_assert(
        !inspection_attention_rows(inspection, 0, 0, 0, (struct attention_window){4096, 1}, &matrix, &error));
    ck_assert_str_eq(error.message, "must be below 4096, the number of the example's queries; got 4096");
    inspection_close(inspection);
    trained_free(&trained);
    check_peak_resident_bytes();
}
END_TEST

/* If the whole matrix is kept, a window is some of its rows. */
START_TEST(windows_of_short_sequences) {
    struct trained trained;
    train(&trained, SETTINGS("sequence_length", "12", "train_examples", "8", "test_examples", "2", "epochs",
                             "1", "model", "transformer", "heads", "2"));
    struct inspection *inspection = inspect(&trained);
    struct attention_matrix matrix;
    struct error error = {0};
    float whole[12 * 12];
    for (int head = INSPECTION_HEAD_MEAN; head < 2; head++) {
        ck_assert(inspection_attention(inspection, 1, 0, head, &matrix, &error));
        ck_assert(matrix.queries == 12 && matrix.first_query == 0 && matrix.all_queries == 12);
        memcpy(whole, matrix.weights, sizeof whole);
        struct attention_window window = {7, 2};
        ck_assert(inspection_attention_rows(inspection, 1, 0, head, window, &matrix, &error));
        ck_assert(matrix.queries == 2 && matrix.keys == 12 && matrix.first_query == 7);
        ck_assert_str_eq(matrix.query_labels[1], "8");
        ck_assert_mem_eq(matrix.weights, whole + 7 * 12, 2 * 12 * sizeof *whole);
    }
    inspection_close(inspection);
    trained_free(&trained);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, memory_stays_small);
    tcase_add_test(tests, windows_of_short_sequences);
}
