/* Runs an experiment as the command line would, and compares its result with golden values. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_EXPERIMENTS_RUN_EXPERIMENT_H
#define ATTNLAB_TESTS_UNIT_CORE_EXPERIMENTS_RUN_EXPERIMENT_H

#include "core/experiments/experiments.h"
#include "core/parameters/parse.h"
#include "tests/unit/core/experiments/result_tree.h"

#include <math.h>
#include <time.h>

enum { TEST_MEMORY_LIMIT = 1 << 30 };

static inline double test_seconds_now(void *owner) {
    (void)owner;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline bool test_always_cancelled(void *owner) {
    (void)owner;
    return true;
}

/* Sets `settings`, pairs of name and value terminated by NULL, fills in the defaults and checks all values.
 */
static inline void prepare_experiment(const struct experiment *experiment, const char *const *settings,
                                      struct parameter_set *set, struct parameter_faults *faults) {
    struct error error = {0};
    struct data_source data = {0};
    ck_assert(parameter_set_init(set, experiment->parameters, experiment->parameter_count, &error));
    for (; settings != NULL && *settings != NULL; settings += 2) {
        int index = parameter_find(set, settings[0]);
        ck_assert_msg(index >= 0, "no parameter %s", settings[0]);
        parameter_set_from_text(set, (size_t)index, settings[1], faults);
    }
    ck_assert_msg(experiment_prepare(experiment, set, &data, TEST_MEMORY_LIMIT, faults, &error), "%s",
                  error.message);
}

static inline struct experiment_context test_context(const struct parameter_set *set,
                                                     struct result_tree *tree) {
    return (struct experiment_context){
        .parameters = set, .result = result_tree_sink(tree), .host.seconds_now = test_seconds_now};
}

/* Runs the experiment and expects success; the result is in `tree`. */
static inline void run_experiment(const struct experiment *experiment, const char *const *settings,
                                  struct result_tree *tree) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct error error = {0};
    prepare_experiment(experiment, settings, &set, &faults);
    ck_assert_msg(faults.count == 0, "%s %s", faults.count > 0 ? faults.items[0].field : "",
                  faults.count > 0 ? faults.items[0].message : "");
    struct experiment_context context = test_context(&set, tree);
    ck_assert_msg(experiment->run(&context, &error), "%s", error.message);
    ck_assert_uint_eq(tree->nodes[0].end, tree->count);
    parameter_set_free(&set);
}

/* Cancels the run from the start, and expects that it reports this and leaves a well-formed result. */
static inline void assert_cancelled(const struct experiment *experiment, const char *const *settings) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct error error = {0};
    struct result_tree tree = {0};
    prepare_experiment(experiment, settings, &set, &faults);
    struct experiment_context context = test_context(&set, &tree);
    context.host.stop.is_requested = test_always_cancelled;
    ck_assert(!experiment->run(&context, &error));
    ck_assert_int_eq(error.code, ERROR_CANCELLED);
    result_tree_free(&tree);
    parameter_set_free(&set);
}

static inline bool test_cancelled_after(void *owner) {
    size_t *calls_left = owner;
    if (*calls_left > 0)
        --*calls_left;
    return *calls_left == 0;
}

/* Expects that the run checks for cancelling more than `calls` times, and then ends without a result. */
static inline void assert_cancelled_after(const struct experiment *experiment, const char *const *settings,
                                          size_t calls) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct error error = {0};
    struct result_tree tree = {0};
    prepare_experiment(experiment, settings, &set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    struct experiment_context context = test_context(&set, &tree);
    context.host.stop = (struct stop_request){test_cancelled_after, &calls};
    ck_assert(!experiment->run(&context, &error));
    ck_assert_int_eq(error.code, ERROR_CANCELLED);
    result_tree_free(&tree);
    parameter_set_free(&set);
}

/* Expects exactly one fault: of `field`, with this message. */
static inline void assert_rejected(const struct experiment *experiment, const char *const *settings,
                                   const char *field, const char *message) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(experiment, settings, &set, &faults);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].field, field);
    ck_assert_str_eq(faults.items[0].message, message);
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Asserts that the numbers at `path` are golden[count], within `tolerance` times the largest of them. */
static inline void assert_near(const struct result_tree *tree, const char *path, const float *golden,
                               size_t count, double tolerance) {
    double *numbers = calloc(count, sizeof *numbers), largest = 0;
    ck_assert_ptr_nonnull(numbers);
    ck_assert_uint_eq(result_tree_numbers(tree, path, (double)NAN, numbers, count), count);
    /* No fmax: gcc 12 for aarch64 ends with an internal error when it vectorises that. */
    for (size_t i = 0; i < count; i++)
        if (fabs((double)golden[i]) > largest)
            largest = fabs((double)golden[i]);
    for (size_t i = 0; i < count; i++)
        if (!(fabs(numbers[i] - (double)golden[i]) <= tolerance * largest))
            ck_abort_msg("%s[%zu] is %.9g, not %.9g", path, i, numbers[i], (double)golden[i]);
    free(numbers);
}

/* Asserts that the numbers at `path` have golden's bits. */
static inline void assert_equal(const struct result_tree *tree, const char *path, const float *golden,
                                size_t count) {
    assert_near(tree, path, golden, count, 0);
}

#define GOLDEN(array) array, sizeof(array) / sizeof((array)[0])

#endif
