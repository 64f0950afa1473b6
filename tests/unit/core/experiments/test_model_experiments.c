/* gradient-reach and permutation against PyTorch, and cost, whose times are compared with each other. */
#include "tests/reference/golden_experiment.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <stdio.h>

static struct result_tree tree;

static void teardown(void) {
    result_tree_free(&tree);
}

/* Compares each value relative to itself: at step 0 an RNN's gradient is 1e-12 of that at the last step. */
static void assert_reach(size_t row, const float *gradient, const float *loss, double tolerance) {
    char path[64];
    for (size_t t = 0; t < 60; t++) {
        snprintf(path, sizeof path, "rows.%zu.gradient.%zu", row, t);
        assert_near(&tree, path, &gradient[t], 1, tolerance);
    }
    snprintf(path, sizeof path, "rows.%zu.loss", row);
    assert_near(&tree, path, loss, 1, 1e-6);
    snprintf(path, sizeof path, "rows.%zu.first", row);
    assert_near(&tree, path, &gradient[0], 1, tolerance);
    snprintf(path, sizeof path, "rows.%zu.last", row);
    assert_near(&tree, path, &gradient[59], 1, tolerance);
    float ratio = gradient[59] / gradient[0];
    snprintf(path, sizeof path, "rows.%zu.ratio", row);
    assert_near(&tree, path, &ratio, 1, 2 * tolerance);
}

START_TEST(gradient_reach_matches_pytorch) {
    run_experiment(&experiment_gradient_reach, NULL, &tree);
    ck_assert_uint_eq(result_tree_length(&tree, "rows"), 3);
    assert_reach(0, golden_reach_rnn, golden_reach_rnn_loss, 1e-5);
    assert_reach(1, golden_reach_lstm, golden_reach_lstm_loss, 1e-5);
    assert_reach(2, golden_reach_attention, golden_reach_attention_loss, 1e-5);
    ck_assert_str_eq(result_tree_get(&tree, "rows.2.model")->text, "attention");
    ck_assert(result_tree_value(&tree, "rows.0.path_length") == 59);
    ck_assert(result_tree_value(&tree, "rows.2.path_length") == 1);
}
END_TEST

START_TEST(gradient_reach_measures_a_transformer_and_no_positions) {
    run_experiment(&experiment_gradient_reach, SETTINGS("models", "transformer"), &tree);
    assert_reach(0, golden_reach_transformer, golden_reach_transformer_loss, 2e-5);
    ck_assert(result_tree_value(&tree, "rows.0.path_length") == 1);
    result_tree_free(&tree);
    run_experiment(&experiment_gradient_reach, SETTINGS("models", "attention,rnn", "position", "none"),
                   &tree);
    assert_reach(0, golden_reach_unplaced, golden_reach_unplaced_loss, 1e-5);
    assert_reach(1, golden_reach_rnn, golden_reach_rnn_loss, 1e-5);
    assert_rejected(&experiment_gradient_reach, SETTINGS("models", "rnn,gru", "position", "none"), "position",
                    "applies to none of the models");
    assert_rejected(&experiment_gradient_reach, SETTINGS("position", "first"), "position",
                    "must be one of learned, sinusoidal, rotary, none; got \"first\"");
}
END_TEST

START_TEST(gradient_reach_measures_only_the_requested_models) {
    run_experiment(&experiment_gradient_reach,
                   SETTINGS("models", "lstm", "sequence_length", "2", "examples", "1"), &tree);
    ck_assert_uint_eq(result_tree_length(&tree, "rows"), 1);
    ck_assert_uint_eq(result_tree_length(&tree, "rows.0.gradient"), 2);
    ck_assert_double_gt(result_tree_value(&tree, "rows.0.first"), 0);
}
END_TEST

START_TEST(gradient_reach_falls_through_the_subnormal_numbers_to_zero) {
    run_experiment(&experiment_gradient_reach,
                   SETTINGS("models", "rnn", "sequence_length", "300", "examples", "1"), &tree);
    bool subnormal = false;
    for (size_t t = 0; t < 300; t++) {
        char path[64];
        snprintf(path, sizeof path, "rows.0.gradient.%zu", t);
        double gradient = result_tree_value(&tree, path);
        subnormal = subnormal || (gradient > 0 && gradient < 1.17549435e-38);
    }
    ck_assert(subnormal);
    ck_assert(result_tree_value(&tree, "rows.0.first") == 0);
    ck_assert_int_eq(result_tree_get(&tree, "rows.0.ratio")->kind, RESULT_NULL);
}
END_TEST

START_TEST(permutation_matches_pytorch) {
    run_experiment(&experiment_permutation, NULL, &tree);
    assert_equal(&tree, "permutation", GOLDEN(golden_permutation_plain_order));
    assert_near(&tree, "original", GOLDEN(golden_permutation_plain_original), 1e-6);
    assert_near(&tree, "shuffled", GOLDEN(golden_permutation_plain_shuffled), 1e-6);
    ck_assert_double_lt(result_tree_value(&tree, "max_difference"), 1e-6);
    assert_near(&tree, "tokens.original", GOLDEN(golden_permutation_plain_tokens_original), 1e-6);
    assert_near(&tree, "tokens.shuffled", GOLDEN(golden_permutation_plain_tokens_shuffled), 1e-6);
    ck_assert_double_lt(result_tree_value(&tree, "equivariance_difference"), 1e-6);
    ck_assert_uint_eq(result_tree_length(&tree, "tokens.input"), 60);
}
END_TEST

START_TEST(permutation_matters_with_positions) {
    run_experiment(&experiment_permutation,
                   SETTINGS("seed", "3", "sequence_length", "12", "examples", "4", "position", "learned"),
                   &tree);
    assert_equal(&tree, "permutation", GOLDEN(golden_permutation_learned_order));
    assert_near(&tree, "original", GOLDEN(golden_permutation_learned_original), 1e-6);
    assert_near(&tree, "shuffled", GOLDEN(golden_permutation_learned_shuffled), 1e-6);
    ck_assert_double_gt(result_tree_value(&tree, "max_difference"), 1e-5);
    assert_near(&tree, "tokens.original", GOLDEN(golden_permutation_learned_tokens_original), 1e-6);
    assert_near(&tree, "tokens.shuffled", GOLDEN(golden_permutation_learned_tokens_shuffled), 1e-6);
    assert_near(&tree, "equivariance_difference", golden_permutation_learned_moved, 1, 1e-6);
    ck_assert_double_gt(result_tree_value(&tree, "equivariance_difference"), 1e-3);
    result_tree_free(&tree);
    run_experiment(&experiment_permutation,
                   SETTINGS("seed", "4", "sequence_length", "10", "examples", "3", "position", "sinusoidal"),
                   &tree);
    assert_equal(&tree, "permutation", GOLDEN(golden_permutation_sinusoidal_order));
    assert_near(&tree, "original", GOLDEN(golden_permutation_sinusoidal_original), 1e-6);
    assert_near(&tree, "shuffled", GOLDEN(golden_permutation_sinusoidal_shuffled), 1e-6);
    ck_assert_double_gt(result_tree_value(&tree, "max_difference"), 1e-4);
    assert_near(&tree, "tokens.original", GOLDEN(golden_permutation_sinusoidal_tokens_original), 1e-6);
    assert_near(&tree, "tokens.shuffled", GOLDEN(golden_permutation_sinusoidal_tokens_shuffled), 1e-6);
    assert_near(&tree, "equivariance_difference", golden_permutation_sinusoidal_moved, 1, 1e-6);
    ck_assert_double_gt(result_tree_value(&tree, "equivariance_difference"), 0.1);
    result_tree_free(&tree);
    run_experiment(&experiment_permutation, SETTINGS("sequence_length", "8", "position", "rotary"), &tree);
    ck_assert_double_gt(result_tree_value(&tree, "equivariance_difference"), 1e-4);
    result_tree_free(&tree);
    run_experiment(&experiment_permutation, SETTINGS("sequence_length", "1", "position", "learned"), &tree);
    ck_assert(result_tree_value(&tree, "max_difference") == 0);
}
END_TEST

START_TEST(cost_is_measured) {
    run_experiment(&experiment_cost, SETTINGS("lengths", "8,16,32", "batch", "4", "repeats", "3"), &tree);
    ck_assert_uint_eq(result_tree_length(&tree, "rows"), 3);
    ck_assert(result_tree_value(&tree, "rows.2.length") == 32);
    ck_assert(result_tree_value(&tree, "rows.2.scores") == 1024);
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.rnn_ms"), 0);
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.attention_ms"), 0);
    ck_assert(result_tree_value(&tree, "rows.2.score_bytes") == 4 * 4 * 1024);
    ck_assert_double_gt(result_tree_value(&tree, "rows.2.attention_bytes"),
                        result_tree_value(&tree, "rows.2.score_bytes"));
    ck_assert_double_gt(result_tree_value(&tree, "rows.2.rnn_bytes"), 0);
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.identity_ms"), 0);
    ck_assert_int_eq(result_tree_get(&tree, "rows.0.ratio.length")->kind, RESULT_NULL);
    ck_assert_int_eq(result_tree_get(&tree, "rows.0.ratio.scores")->kind, RESULT_NULL);
    ck_assert(result_tree_value(&tree, "rows.1.ratio.length") == 2);
    ck_assert(result_tree_value(&tree, "rows.2.ratio.scores") == 4);
}
END_TEST

/* In bytes for 64 examples of 30 steps: queries, keys, values and contexts, 4 T W; scores T^2;
 * tiles keep two numbers for each query and work in a block of scores. The RNN holds its states. */
static void check_bytes(const char *width_text, size_t width) {
    enum { EXAMPLES = 64, T = 30 };
    const double matrix = (double)(EXAMPLES * T * width * 4);
    run_experiment(&experiment_cost, SETTINGS("lengths", "30", "repeats", "1", "width", width_text), &tree);
    ck_assert(result_tree_value(&tree, "rows.0.attention_bytes") == 4 * matrix + EXAMPLES * T * T * 4);
    ck_assert_double_ge(result_tree_value(&tree, "rows.0.tiled_bytes"), 4 * matrix + 2 * EXAMPLES * T * 4);
    ck_assert_double_lt(result_tree_value(&tree, "rows.0.tiled_bytes"), 5 * matrix);
    ck_assert_double_ge(result_tree_value(&tree, "rows.0.rnn_bytes"), matrix);
    ck_assert_double_le(result_tree_value(&tree, "rows.0.rnn_bytes"), 1.1 * matrix);
    ck_assert_double_lt(result_tree_value(&tree, "rows.0.identity_bytes"),
                        result_tree_value(&tree, "rows.0.attention_bytes"));
    /* Four gates, the cell, its tanh and the hidden state. */
    ck_assert_double_ge(result_tree_value(&tree, "rows.0.lstm_bytes"), 5 * matrix);
    ck_assert_double_le(result_tree_value(&tree, "rows.0.lstm_bytes"), 8.2 * matrix);
    result_tree_free(&tree);
}

START_TEST(bytes_are_what_a_pass_holds) {
    check_bytes("32", 32);
    check_bytes("48", 48);
}
END_TEST

START_TEST(tiles_take_less_memory_for_long_sequences) {
    run_experiment(&experiment_cost, SETTINGS("lengths", "512,1024", "batch", "4", "repeats", "1"), &tree);
    ck_assert_str_eq(result_tree_get(&tree, "rows.1.wins.bytes")->text, "tiled");
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.attention_bytes"), 4 * 4 * 1024 * 1024);
    ck_assert_double_lt(result_tree_value(&tree, "rows.1.tiled_bytes"), 4 * 1024 * 1024);
    ck_assert_double_lt(result_tree_value(&tree, "rows.1.ratio.tiled_bytes"), 2.1);
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.ratio.attention_bytes"), 3);
}
END_TEST

/* A clock that shows 0 and 1, 1 and 3, 3 and 6, ...: the passes seem to take 1, 2, 3, ... seconds. */
static double growing_seconds(void *owner) {
    size_t *calls = owner, pass = (*calls + 1) / 2;
    *calls += 1;
    return (double)(pass * (pass + 1) / 2);
}

START_TEST(cost_is_the_median_of_times_on_the_contexts_clock) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(&experiment_cost, SETTINGS("lengths", "4", "batch", "1", "repeats", "3"), &set,
                       &faults);
    struct experiment_context context = test_context(&set, &tree);
    size_t calls = 0;
    context.host.seconds_now = growing_seconds;
    context.host.clock_owner = &calls;
    ck_assert(experiment_cost.run(&context, NULL));
    parameter_set_free(&set);
    /* The models take turns: the RNN's passes are the first, sixth and eleventh. */
    ck_assert_uint_eq(calls, 30);
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.rnn_ms"), 6000, 1e-9);
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.lstm_ms"), 7000, 1e-9);
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.attention_ms"), 8000, 1e-9);
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.tiled_ms"), 9000, 1e-9);
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.identity_ms"), 10000, 1e-9);
    ck_assert_str_eq(result_tree_get(&tree, "rows.0.wins.time")->text, "attention");
    ck_assert_str_eq(result_tree_get(&tree, "rows.0.wins.bytes")->text, "attention");
}
END_TEST

START_TEST(a_matrix_that_does_not_fit_is_left_out) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(&experiment_cost, SETTINGS("lengths", "60,4096,2048,30"), &set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    ck_assert_int_eq(parameter_integer(&set, "matrix_up_to"), 2047);
    parameter_set_free(&set);
    prepare_experiment(&experiment_cost, NULL, &set, &faults);
    ck_assert_int_eq(parameter_integer(&set, "matrix_up_to"), 4096);
    parameter_set_free(&set);

    run_experiment(&experiment_cost,
                   SETTINGS("lengths", "8,16", "batch", "2", "repeats", "1", "matrix_up_to", "15"), &tree);
    ck_assert_int_eq(result_tree_get(&tree, "rows.0.attention_not_measured")->kind, RESULT_NULL);
    ck_assert_double_gt(result_tree_value(&tree, "rows.0.attention_ms"), 0);
    ck_assert_int_eq(result_tree_get(&tree, "rows.1.attention_ms")->kind, RESULT_NULL);
    ck_assert_int_eq(result_tree_get(&tree, "rows.1.ratio.attention_ms")->kind, RESULT_NULL);
    ck_assert_ptr_nonnull(
        strstr(result_tree_get(&tree, "rows.1.attention_not_measured")->text, "above matrix_up_to"));
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.tiled_ms"), 0);
    ck_assert_double_gt(result_tree_value(&tree, "rows.1.ratio.attention_bytes"), 1);
    ck_assert_str_eq(result_tree_get(&tree, "rows.1.wins.time")->text, "tiled");
}
END_TEST

START_TEST(sizes_that_do_not_fit_are_refused) {
    assert_rejected(&experiment_gradient_reach, SETTINGS("sequence_length", "1"), "sequence_length",
                    "must be at least 2 and at most 2000; got 1");
    assert_rejected(&experiment_gradient_reach, SETTINGS("models", "rnn,cnn"), "models",
                    "member 2 must be one of rnn, lstm, gru, attention, transformer; got \"cnn\"");
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(&experiment_cost, SETTINGS("lengths", "60,4096", "batch", "1024"), &set, &faults);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].field, "lengths");
    ck_assert_ptr_nonnull(strstr(faults.items[0].message, "lengths, batch and width weigh most"));
    parameter_faults_free(&faults);
    parameter_set_free(&set);
    prepare_experiment(&experiment_cost, SETTINGS("lengths", "60,4096", "matrix_up_to", "4096"), &set,
                       &faults);
    ck_assert_uint_eq(faults.count, 1);
    ck_assert_str_eq(faults.items[0].field, "matrix_up_to");
    parameter_faults_free(&faults);
    parameter_set_free(&set);
    /* It takes its examples in parts. */
    prepare_experiment(&experiment_gradient_reach, SETTINGS("sequence_length", "2000", "examples", "4096"),
                       &set, &faults);
    ck_assert_uint_eq(faults.count, 0);
    parameter_faults_free(&faults);
    parameter_set_free(&set);
    /* Without positions the model keeps no T x T matrix. */
    prepare_experiment(&experiment_permutation, SETTINGS("sequence_length", "2000", "examples", "1024"), &set,
                       &faults);
    ck_assert_uint_eq(faults.count, 0);
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}
END_TEST

START_TEST(runs_can_be_cancelled) {
    assert_cancelled(&experiment_gradient_reach, NULL);
    assert_cancelled(&experiment_cost, NULL);
    assert_cancelled(&experiment_permutation, NULL);
}
END_TEST

/* Cancelling also takes effect within a pass, not only between two models or lengths. */
START_TEST(a_pass_can_be_cancelled_midway) {
    assert_cancelled_after(&experiment_gradient_reach, SETTINGS("models", "rnn", "examples", "4"), 100);
    assert_cancelled_after(&experiment_gradient_reach, SETTINGS("models", "lstm", "examples", "4"), 100);
    assert_cancelled_after(&experiment_permutation, SETTINGS("examples", "64"), 100);
    assert_cancelled_after(&experiment_permutation, SETTINGS("examples", "64", "position", "learned"), 100);
    assert_cancelled_after(&experiment_cost, SETTINGS("lengths", "60", "batch", "64", "repeats", "1"), 200);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, gradient_reach_matches_pytorch);
    tcase_add_test(tests, gradient_reach_measures_a_transformer_and_no_positions);
    tcase_add_test(tests, gradient_reach_measures_only_the_requested_models);
    tcase_add_test(tests, gradient_reach_falls_through_the_subnormal_numbers_to_zero);
    tcase_add_test(tests, permutation_matches_pytorch);
    tcase_add_test(tests, permutation_matters_with_positions);
    tcase_add_test(tests, cost_is_measured);
    tcase_add_test(tests, bytes_are_what_a_pass_holds);
    tcase_add_test(tests, tiles_take_less_memory_for_long_sequences);
    tcase_add_test(tests, cost_is_the_median_of_times_on_the_contexts_clock);
    tcase_add_test(tests, a_matrix_that_does_not_fit_is_left_out);
    tcase_add_test(tests, sizes_that_do_not_fit_are_refused);
    tcase_add_test(tests, runs_can_be_cancelled);
    tcase_add_test(tests, a_pass_can_be_cancelled_midway);
}
