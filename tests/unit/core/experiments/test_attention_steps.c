/* attention-steps against PyTorch, and its messages about matrices that do not fit. */
#include "tests/reference/golden_experiment.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

static struct result_tree tree;
static const struct experiment *const experiment = &experiment_attention_steps;

static void teardown(void) {
    result_tree_free(&tree);
}

START_TEST(drawn_matches_pytorch) {
    run_experiment(experiment, NULL, &tree);
    assert_equal(&tree, "input", GOLDEN(golden_drawn_input));
    assert_near(&tree, "q", GOLDEN(golden_drawn_q), 1e-6);
    assert_near(&tree, "k", GOLDEN(golden_drawn_k), 1e-6);
    assert_near(&tree, "v", GOLDEN(golden_drawn_v), 1e-6);
    assert_near(&tree, "scores", GOLDEN(golden_drawn_scores), 1e-6);
    assert_near(&tree, "scaled", GOLDEN(golden_drawn_scaled), 1e-6);
    assert_near(&tree, "masked", GOLDEN(golden_drawn_scaled), 1e-6);
    assert_near(&tree, "weights", GOLDEN(golden_drawn_weights), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_drawn_output), 1e-6);
    const float ones[] = {1, 1, 1, 1};
    assert_near(&tree, "row_sums", GOLDEN(ones), 1e-6);
    ck_assert_uint_eq(result_tree_length(&tree, "hidden_queries"), 0);
    ck_assert_str_eq(result_tree_get(&tree, "query_labels.3")->text, "token 3");
}
END_TEST

START_TEST(drawn_takes_other_sizes) {
    run_experiment(experiment, SETTINGS("seed", "5", "tokens", "5", "width", "3"), &tree);
    assert_near(&tree, "output", GOLDEN(golden_drawn_small_output), 1e-6);
}
END_TEST

START_TEST(one_token_attends_to_itself) {
    run_experiment(experiment, SETTINGS("tokens", "1", "width", "1"), &tree);
    ck_assert(result_tree_value(&tree, "weights.0.0") == 1);
    ck_assert(result_tree_value(&tree, "output.0.0") == result_tree_value(&tree, "v.0.0"));
}
END_TEST

START_TEST(worked_matches_pytorch) {
    run_experiment(experiment, SETTINGS("preset", "worked"), &tree);
    assert_near(&tree, "scores", GOLDEN(golden_worked_scores), 1e-6);
    assert_near(&tree, "scaled", GOLDEN(golden_worked_scaled), 1e-6);
    assert_near(&tree, "weights", GOLDEN(golden_worked_weights), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_worked_output), 1e-6);
    ck_assert_uint_eq(result_tree_length(&tree, "key_labels"), 3);
}
END_TEST

START_TEST(causal_head_matches_the_notebook) {
    run_experiment(experiment, SETTINGS("preset", "causal-head"), &tree);
    assert_near(&tree, "q", GOLDEN(golden_head_q), 1e-6);
    assert_near(&tree, "k", GOLDEN(golden_head_k), 1e-6);
    assert_near(&tree, "v", GOLDEN(golden_head_v), 1e-6);
    assert_near(&tree, "scores", GOLDEN(golden_head_scores), 1e-6);
    assert_near(&tree, "scaled", GOLDEN(golden_head_scores), 1e-6);
    assert_near(&tree, "weights", GOLDEN(golden_head_weights), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_head_output), 1e-6);
    ck_assert_int_eq(result_tree_get(&tree, "masked.0.1")->kind, RESULT_NULL);
    ck_assert_int_eq(result_tree_get(&tree, "masked.7.7")->kind, RESULT_NUMBER);
    /* The four digits that the notebook prints. */
    ck_assert_double_eq_tol(result_tree_value(&tree, "scores.0.0"), -1.7629, 5e-5);
    ck_assert_double_eq_tol(result_tree_value(&tree, "weights.1.1"), 0.8426, 5e-5);
    const char *const names[] = {"variance.k", "variance.q", "variance.scores", "variance.scaled"};
    for (size_t i = 0; i < 4; i++)
        assert_near(&tree, names[i], &golden_head_variances[i], 1, 1e-5);
}
END_TEST

START_TEST(causal_head_can_be_scaled_and_unmasked) {
    run_experiment(experiment, SETTINGS("preset", "causal-head", "scale", "true"), &tree);
    assert_near(&tree, "output", GOLDEN(golden_head_scaled_output), 1e-6);
    result_tree_free(&tree);
    run_experiment(experiment, SETTINGS("preset", "causal-head", "mask", "none"), &tree);
    ck_assert_double_gt(result_tree_value(&tree, "weights.0.7"), 0);
}
END_TEST

#define CROSS "q", "[[1,2],[0.5,-1]]", "k", "[[1,0],[0,1],[-1,0.25]]", "v", "[[1],[2],[4]]"

START_TEST(given_matrices_may_be_cross_attention) {
    run_experiment(experiment, SETTINGS("preset", "given", CROSS), &tree);
    assert_near(&tree, "weights", GOLDEN(golden_cross_weights), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_cross_output), 1e-6);
    ck_assert_uint_eq(result_tree_length(&tree, "query_labels"), 2);
    ck_assert_uint_eq(result_tree_length(&tree, "key_labels"), 3);
    result_tree_free(&tree);
    /* Giving matrices selects the preset. */
    run_experiment(experiment, SETTINGS(CROSS, "mask", "causal"), &tree);
    assert_near(&tree, "weights", GOLDEN(golden_cross_causal_weights), 1e-6);
}
END_TEST

START_TEST(a_query_that_sees_nothing_gets_zeros) {
    run_experiment(experiment, SETTINGS(CROSS, "mask_matrix", "[[0,0,0],[1,0,1]]"), &tree);
    const float zeros[] = {0, 0, 0};
    assert_equal(&tree, "weights.0", GOLDEN(zeros));
    assert_equal(&tree, "output.0", zeros, 1);
    assert_equal(&tree, "row_sums.0", zeros, 1);
    ck_assert(result_tree_value(&tree, "weights.1.1") == 0);
    ck_assert_uint_eq(result_tree_length(&tree, "hidden_queries"), 1);
    ck_assert(result_tree_value(&tree, "hidden_queries.0") == 0);
    ck_assert_str_eq(result_tree_get(&tree, "notes.0")->text,
                     "Query 0 sees no key: its weights and its output are all zero.");
}
END_TEST

START_TEST(products_beyond_float_are_null) {
    run_experiment(experiment, SETTINGS("q", "[[1e30]]", "k", "[[1e30]]", "v", "[[1]]"), &tree);
    ck_assert_int_eq(result_tree_get(&tree, "scores.0.0")->kind, RESULT_NULL);
    ck_assert_uint_eq(result_tree_length(&tree, "notes"), 1);
}
END_TEST

START_TEST(matrices_that_do_not_fit_are_faults) {
    assert_rejected(experiment, SETTINGS("q", "[[1,2]]", "k", "[[1]]", "v", "[[1]]"), "k",
                    "must have as many columns as q, 2; got 1");
    assert_rejected(experiment, SETTINGS("q", "[[1]]", "k", "[[1]]", "v", "[[1],[2]]"), "v",
                    "must have a row for each of the 1 rows of k; got 2");
    assert_rejected(experiment, SETTINGS("q", "[[1]]", "k", "[[1]]"), "v", "is required by the preset given");
    assert_rejected(experiment, SETTINGS("q", "[[1],[2,3]]", "k", "[[1]]", "v", "[[1]]"), "q",
                    "must be a matrix whose rows all have the same length");
    assert_rejected(experiment, SETTINGS("preset", "worked", "q", "[[1]]"), "q",
                    "needs the preset given; the preset is worked");
    assert_rejected(experiment, SETTINGS("mask_matrix", "[[1,1]]"), "mask_matrix",
                    "must have 4 x 4 entries, one for each query and key; got 1 x 2");
    assert_rejected(experiment, SETTINGS("tokens", "0"), "tokens",
                    "must be at least 1 and at most 512; got 0");
}
END_TEST

/* Takes the best of several times, because the machine may be busy. A sanitizer would falsify the time. */
START_TEST(sixty_four_tokens_take_far_less_than_fifty_milliseconds) {
    double best = 1;
    for (int i = 0; i < 10; i++) {
        struct result_tree one = {0};
        clock_t start = clock();
        run_experiment(experiment, SETTINGS("tokens", "64", "width", "64"), &one);
        best = fmin(best, (double)(clock() - start) / CLOCKS_PER_SEC);
        ck_assert_uint_eq(result_tree_length(&one, "output"), 64);
        result_tree_free(&one);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    ck_assert_double_lt(best, 0.05);
#endif
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, drawn_matches_pytorch);
    tcase_add_test(tests, drawn_takes_other_sizes);
    tcase_add_test(tests, one_token_attends_to_itself);
    tcase_add_test(tests, worked_matches_pytorch);
    tcase_add_test(tests, causal_head_matches_the_notebook);
    tcase_add_test(tests, causal_head_can_be_scaled_and_unmasked);
    tcase_add_test(tests, given_matrices_may_be_cross_attention);
    tcase_add_test(tests, a_query_that_sees_nothing_gets_zeros);
    tcase_add_test(tests, products_beyond_float_are_null);
    tcase_add_test(tests, matrices_that_do_not_fit_are_faults);
    tcase_add_test(tests, sixty_four_tokens_take_far_less_than_fifty_milliseconds);
}
