/* What a run takes: declared by every experiment, and near to what it does take. */
#include "core/experiments/run_speed.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

/* Sanitizers and the counting of lines slow each kind of work down by a factor of its own: counted line by
 * line, the measured work takes 12 times as long compared with a run's. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(COUNTS_LINES)
static const double tolerated_factor = 40;
#else
static const double tolerated_factor = 4;
#endif

static double thread_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct run_cost estimate(const struct experiment *experiment, const char *const *settings) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct data_source none = {0};
    prepare_experiment(experiment, settings, &set, &faults);
    ck_assert_msg(faults.count == 0, "%s", faults.count > 0 ? faults.items[0].message : "");
    struct run_cost cost = experiment_estimate(experiment, &set, &none);
    parameter_set_free(&set);
    return cost;
}

START_TEST(every_experiment_declares_what_a_run_takes) {
    for (size_t i = 0; experiment_table[i] != NULL; i++) {
        const struct experiment *experiment = experiment_table[i];
        ck_assert_msg(experiment->estimate != NULL, "%s declares no cost", experiment->name);
    }
    struct experiment careless = experiment_scaling;
    struct parameter_set set;
    struct parameter_faults faults = {0};
    struct data_source none = {0};
    struct error error = {0};
    careless.estimate = NULL;
    ck_assert(parameter_set_init(&set, careless.parameters, careless.parameter_count, &error));
    ck_assert(!experiment_prepare(&careless, &set, &none, TEST_MEMORY_LIMIT, &faults, &error));
    ck_assert_int_eq(error.code, ERROR_INTERNAL);
    parameter_set_free(&set);
}
END_TEST

/* Parameters that take no more work, however large they are. */
static bool is_free(const char *name) {
    static const char *const names[] = {"seed",     "train_seed",   "test_seed", "learning_rate",
                                        "momentum", "weight_decay", NULL};
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Seconds at a speed at which every kind of work takes equally long. */
static double count_work(const struct run_cost *cost) {
    double work = 0;
    for (int kind = 0; kind < WORK_KIND_COUNT; kind++)
        work += cost->work[kind];
    return work;
}

/* Sets a whole number to twice its value; returns whether there is one to double. */
static bool double_value(struct parameter_set *set, size_t index) {
    const struct parameter_declaration *declaration = &set->declarations[index];
    struct parameter_value *value = &set->values[index];
    bool is_number = declaration->type == PARAMETER_INTEGER && value->is_set && value->integer > 0;
    bool is_list = declaration->type == PARAMETER_INTEGER_LIST && value->is_set;
    value->integer *= is_number ? 2 : 1;
    for (size_t i = 0; is_list && i < value->count; i++)
        value->integers[i] *= 2;
    return is_number || is_list;
}

static void check_each_parameter(const struct experiment *experiment, const char *const *settings) {
    struct data_source none = {0};
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(experiment, settings, &set, &faults);
    parameter_faults_free(&faults);
    struct run_cost cost = experiment_estimate(experiment, &set, &none);
    for (size_t i = 0; i < set.count; i++) {
        struct parameter_set larger;
        ck_assert(parameter_set_copy(&larger, &set, NULL));
        if (double_value(&larger, i) && !is_free(set.declarations[i].name)) {
            struct run_cost more = experiment_estimate(experiment, &larger, &none);
            ck_assert_msg(count_work(&more) != count_work(&cost) || more.memory_bytes != cost.memory_bytes,
                          "%s is free in %s", set.declarations[i].name, experiment->name);
        }
        parameter_set_free(&larger);
    }
    parameter_set_free(&set);
}

/* Limits that fail open: what nobody had listed was free. */
START_TEST(no_parameter_is_free) {
    for (size_t i = 0; experiment_table[i] != NULL; i++)
        if (experiment_table[i] != &experiment_train && experiment_table[i] != &experiment_cost &&
            experiment_table[i] != &experiment_retrieval)
            check_each_parameter(experiment_table[i], NULL);
    check_each_parameter(&experiment_cost, SETTINGS("matrix_up_to", "60"));
    check_each_parameter(&experiment_train, SETTINGS("model", "transformer"));
    check_each_parameter(&experiment_retrieval, SETTINGS("splits", "3"));
}
END_TEST

START_TEST(a_refusal_names_the_parameters_that_weigh_most) {
    assert_rejected(&experiment_transformer_block,
                    SETTINGS("layers", "48", "width", "1024", "heads", "1", "feedforward_width", "8192"),
                    "width",
                    "is too large: the run would take 4042.3 MB of memory, at most 1073.7 MB of memory are "
                    "allowed; width,"
                    " layers and feedforward_width weigh most");
}
END_TEST

static const struct {
    const struct experiment *experiment;
    const char *settings[16];
} measured[] = {
    {&experiment_train, {"model", "rnn", "epochs", "20"}},
    {&experiment_train, {"model", "lstm", "epochs", "8"}},
    {&experiment_train, {"model", "gru", "epochs", "6"}},
    {&experiment_train, {"model", "attention", "epochs", "8"}},
    {&experiment_train, {"model", "attention", "position", "none", "epochs", "30"}},
    {&experiment_train, {"model", "attention", "position", "rotary", "epochs", "2"}},
    {&experiment_train, {"model", "lstm", "width", "128", "train_examples", "200", "epochs", "1"}},
    {&experiment_train, {"model", "rnn", "batch_size", "1", "train_examples", "500", "epochs", "4"}},
    {&experiment_train,
     {"model", "attention", "sequence_length", "512", "train_examples", "100", "test_examples", "10",
      "epochs", "1"}},
    {&experiment_train, {"model", "transformer", "train_examples", "500", "epochs", "1"}},
    {&experiment_train,
     {"model", "transformer", "layers", "4", "heads", "2", "train_examples", "200", "epochs", "1"}},
    {&experiment_train, {"task", "reviews", "model", "transformer", "epochs", "3"}},
    {&experiment_train, {"task", "reviews", "model", "lstm", "epochs", "6"}},
    {&experiment_cost, {"repeats", "5"}},
    {&experiment_cost, {"repeats", "5", "width", "128", "batch", "16"}},
    {&experiment_cost, {"repeats", "20", "lengths", "30,40,50,60", "batch", "128"}},
    {&experiment_scaling, {"samples", "4000"}},
    {&experiment_gradient_reach, {"sequence_length", "120"}},
    {&experiment_permutation, {"sequence_length", "400", "examples", "64"}},
    {&experiment_running_average, {"tokens", "256", "channels", "64"}},
    {&experiment_attention_steps, {"tokens", "256", "width", "64"}},
    {&experiment_attention_steps, {"tokens", "128", "width", "64", "heads", "8", "batch", "16"}},
    {&experiment_transformer_block, {"layers", "12", "tokens", "100", "width", "128", "batch", "4"}},
};
enum { MEASURED = sizeof measured / sizeof measured[0] };

static struct run_speed measure_speed(void) {
    struct run_speed speed;
    struct result_tree tree = {0};
    struct result_sink sink = result_tree_sink(&tree);
    ck_assert(run_speed_measure(&speed, &sink, thread_seconds, NULL));
    result_tree_free(&tree);
    return speed;
}

START_TEST(seconds_are_near_to_those_estimated) {
    struct result_tree tree = {0};
    struct run_speed speed = measure_speed();
    struct run_cost cost = estimate(measured[_i].experiment, measured[_i].settings);
    double start = thread_seconds();
    run_experiment(measured[_i].experiment, measured[_i].settings, &tree);
    double taken = thread_seconds() - start, expected = run_cost_seconds(&cost, &speed);
    result_tree_free(&tree);
    ck_assert_msg(taken < tolerated_factor * expected && expected < tolerated_factor * taken,
                  "%s takes %.3f s, not %.3f s", measured[_i].experiment->name, taken, expected);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, every_experiment_declares_what_a_run_takes);
    tcase_add_test(tests, no_parameter_is_free);
    tcase_add_test(tests, a_refusal_names_the_parameters_that_weigh_most);
    tcase_add_loop_test(tests, seconds_are_near_to_those_estimated, 0, MEASURED);
}
