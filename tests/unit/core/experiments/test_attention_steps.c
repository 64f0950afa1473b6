/* attention-steps against PyTorch, and its messages about matrices that do not fit. */
#include "tests/reference/golden_attention_steps.h"
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

/* The weights of head `head`, whose result has several. */
static void check_heads(const char *const *settings, size_t heads, const float *weights, size_t weight_count,
                        const float *torch_weights) {
    run_experiment(experiment, settings, &tree);
    size_t each = weight_count / heads;
    ck_assert_uint_eq(result_tree_length(&tree, "heads"), heads);
    for (size_t head = 0; head < heads; head++) {
        char path[40];
        snprintf(path, sizeof path, "heads.%zu.weights", head);
        assert_near(&tree, path, weights + head * each, each, 1e-6);
        assert_near(&tree, path, torch_weights + head * each, each, 1e-6);
    }
    assert_near(&tree, "weights", weights, each, 1e-6);
}

START_TEST(several_heads_are_the_labs_and_pytorchs) {
    check_heads(SETTINGS("heads", "2"), 2, GOLDEN(golden_steps_heads_weights),
                golden_steps_heads_torch_weights);
    assert_near(&tree, "concatenated", GOLDEN(golden_steps_heads_concatenated), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_heads_output), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_heads_torch_output), 1e-6);
    ck_assert_str_eq(result_tree_get(&tree, "parameters.2.name")->text, "k.weight");
    ck_assert_str_eq(result_tree_get(&tree, "parameters.2.torch_name")->text, "in_proj_weight[8:16]");
    ck_assert_str_eq(result_tree_get(&tree, "parameters.7.torch_name")->text, "out_proj.bias");
    ck_assert_uint_eq(result_tree_length(&tree, "b_q"), 8);
}
END_TEST

START_TEST(every_example_of_a_batch_can_be_shown) {
    check_heads(
        SETTINGS("seed", "3", "batch", "3", "tokens", "5", "width", "12", "heads", "3", "example", "2"), 3,
        GOLDEN(golden_steps_batch_weights), golden_steps_batch_torch_weights);
    assert_near(&tree, "concatenated", GOLDEN(golden_steps_batch_concatenated), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_batch_output), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_batch_torch_output), 1e-6);
    ck_assert(result_tree_value(&tree, "shapes.head_size") == 4);
}
END_TEST

START_TEST(keys_and_values_may_come_from_a_second_sequence) {
    check_heads(SETTINGS("seed", "1", "batch", "2", "heads", "4", "example", "1", "context_tokens", "6"), 4,
                GOLDEN(golden_steps_cross_weights), golden_steps_cross_torch_weights);
    assert_near(&tree, "concatenated", GOLDEN(golden_steps_cross_concatenated), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_cross_output), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_cross_torch_output), 1e-6);
    ck_assert_uint_eq(result_tree_length(&tree, "context"), 6);
    ck_assert_str_eq(result_tree_get(&tree, "key_labels.5")->text, "context 5");
}
END_TEST

START_TEST(one_head_may_be_narrower_than_its_input) {
    run_experiment(experiment,
                   SETTINGS("seed", "7", "batch", "2", "tokens", "5", "width", "6", "head_size", "4",
                            "context_tokens", "3", "example", "1"),
                   &tree);
    assert_near(&tree, "weights", GOLDEN(golden_steps_one_weights), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_one_output), 1e-6);
    ck_assert_uint_eq(result_tree_length(&tree, "w_q"), 4);
    ck_assert_uint_eq(result_tree_length(&tree, "w_q.0"), 6);
    const char *const names[] = {"variance.k", "variance.q", "variance.scores", "variance.scaled"};
    for (size_t i = 0; i < 4; i++)
        assert_near(&tree, names[i], &golden_steps_one_variances[i], 1, 1e-5);
}
END_TEST

START_TEST(maps_may_be_given) {
    run_experiment(experiment,
                   SETTINGS("h", "[[1,2,-1],[0.5,0,3]]", "w_k", "[[1,0,0],[0,1,-0.5]]", "seed", "2"), &tree);
    assert_near(&tree, "weights", GOLDEN(golden_steps_given_weights), 1e-6);
    assert_near(&tree, "output", GOLDEN(golden_steps_given_output), 1e-6);
    ck_assert(result_tree_value(&tree, "w_k.1.2") == -0.5);
    ck_assert_str_eq(result_tree_get(&tree, "key_labels.1")->text, "token 1");
}
END_TEST

START_TEST(mistakes_give_what_pytorch_gives) {
    static const struct {
        const char *name, *value;
        const float *weights;
        bool has_note;
    } cases[] = {
        {"softmax_over", "queries", golden_steps_over_queries_weights, true},
        {"mask_fill", "zero", golden_steps_zero_fill_weights, true},
        {"swap", "true", golden_steps_swapped_weights, true},
        {"blend", "0.5", golden_steps_half_weights, false},
        {"blend", "0", golden_steps_average_weights, true},
        {"zero", "q", golden_steps_average_weights, true},
        {"zero", "k", golden_steps_average_weights, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        run_experiment(experiment, SETTINGS("preset", "causal-head", cases[i].name, cases[i].value), &tree);
        assert_near(&tree, "weights", cases[i].weights, 64, 1e-6);
        ck_assert_uint_eq(result_tree_length(&tree, "notes"), cases[i].has_note);
        result_tree_free(&tree);
    }
    run_experiment(experiment, SETTINGS("preset", "causal-head", "blend", "0"), &tree);
    assert_near(&tree, "output", GOLDEN(golden_steps_average_output), 1e-6);
    result_tree_free(&tree);
    run_experiment(experiment, SETTINGS("preset", "causal-head", "softmax_over", "queries"), &tree);
    const float ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    assert_near(&tree, "column_sums", GOLDEN(ones), 1e-6);
    ck_assert_double_lt(result_tree_value(&tree, "row_sums.0"), 0.9);
    result_tree_free(&tree);
    run_experiment(experiment, SETTINGS("zero", "v", "heads", "2"), &tree);
    ck_assert(result_tree_value(&tree, "w_v.0.0") == 0);
    ck_assert(result_tree_value(&tree, "b_v.7") == 0);
    ck_assert(result_tree_value(&tree, "concatenated.3.7") == 0);
}
END_TEST

START_TEST(a_key_that_no_query_sees_gets_zeros_over_the_queries) {
    run_experiment(
        experiment,
        SETTINGS("tokens", "2", "context_tokens", "4", "mask", "causal", "softmax_over", "queries"), &tree);
    const float sums[] = {1, 1, 0, 0};
    assert_near(&tree, "column_sums", GOLDEN(sums), 1e-6);
    ck_assert_str_eq(result_tree_get(&tree, "notes.0")->text,
                     "No query sees key 2: its weights are all zero.");
    ck_assert_uint_eq(result_tree_length(&tree, "notes"), 3);
}
END_TEST

START_TEST(notes_say_only_what_holds) {
    run_experiment(experiment, SETTINGS("mask", "causal", "blend", "0", "mask_fill", "zero"), &tree);
    ck_assert_uint_eq(result_tree_length(&tree, "notes"), 1);
    ck_assert_ptr_nonnull(strstr(result_tree_get(&tree, "notes.0")->text, "exp(0) = 1"));
    result_tree_free(&tree);
    run_experiment(experiment, SETTINGS("q", "[[1e30]]", "k", "[[1e30]]", "v", "[[1]]", "blend", "0"), &tree);
    ck_assert_uint_eq(result_tree_length(&tree, "notes"), 1);
    ck_assert_ptr_nonnull(strstr(result_tree_get(&tree, "notes.0")->text, "too large for float32"));
}
END_TEST

START_TEST(what_a_preset_does_not_use_is_refused) {
    static const char *const drawn[] = {"batch", "example", "tokens", "width"};
    static const char *const mapped[] = {"seed", "heads", "head_size", "context_tokens"};
    for (size_t i = 0; i < 4; i++) {
        assert_rejected(experiment, SETTINGS("preset", "worked", drawn[i], "1"), drawn[i],
                        "needs the preset drawn or causal-head; the preset is worked");
        assert_rejected(experiment, SETTINGS("h", "[[1]]", drawn[i], "1"), drawn[i],
                        "needs the preset drawn or causal-head; the preset is given");
        assert_rejected(experiment, SETTINGS("preset", "worked", mapped[i], "1"), mapped[i],
                        "needs tokens to map: the preset drawn or causal-head, or h; the preset is worked");
        assert_rejected(experiment, SETTINGS(CROSS, mapped[i], "1"), mapped[i],
                        "needs tokens to map: the preset drawn or causal-head, or h; the preset is given");
    }
    assert_rejected(experiment,
                    SETTINGS("h", "[[1]]", "w_q", "[[1]]", "w_k", "[[1]]", "w_v", "[[1]]", "seed", "1"),
                    "seed", "has nothing to draw: the tokens and all maps are given; the preset is given");
    assert_rejected(experiment, SETTINGS("preset", "drawn", "h", "[[1]]"), "h",
                    "needs the preset given; the preset is drawn");
    assert_rejected(experiment, SETTINGS("h", "[[1]]", "q", "[[1]]"), "q",
                    "cannot be given together with h, from which it is made");
    assert_rejected(experiment, SETTINGS("preset", "worked", "w_v", "[[1]]"), "w_v",
                    "needs tokens to map: the preset drawn or causal-head, or h; the preset is worked");
}
END_TEST

START_TEST(sizes_that_do_not_fit_are_faults) {
    assert_rejected(experiment, SETTINGS("heads", "3"), "heads",
                    "must divide the width of a token, 8; got 3");
    assert_rejected(experiment, SETTINGS("batch", "2", "example", "2"), "example",
                    "must be below the batch, 2; got 2");
    assert_rejected(experiment, SETTINGS("w_q", "[[1,2]]"), "w_q",
                    "must have 1 x 8 entries, heads * head_size and the width of a token; got 1 x 2");
    assert_rejected(experiment, SETTINGS("heads", "8", "head_size", "65"), "head_size",
                    "times heads must be at most 512; got 520");
    assert_rejected(experiment, SETTINGS("context_tokens", "3", "swap", "true"), "swap",
                    "needs as many queries as keys, for each has a value; got 4 and 3");
    assert_rejected(experiment, SETTINGS("mask_fill", "zero"), "mask_fill", "needs a mask or a mask_matrix");
    assert_rejected(experiment, SETTINGS("blend", "1.5"), "blend",
                    "must be at least 0 and at most 1; got 1.5");
    assert_rejected(experiment, SETTINGS("context_tokens", "513"), "context_tokens",
                    "must be at least 0 and at most 512; got 513");
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
    tcase_add_test(tests, several_heads_are_the_labs_and_pytorchs);
    tcase_add_test(tests, every_example_of_a_batch_can_be_shown);
    tcase_add_test(tests, keys_and_values_may_come_from_a_second_sequence);
    tcase_add_test(tests, one_head_may_be_narrower_than_its_input);
    tcase_add_test(tests, maps_may_be_given);
    tcase_add_test(tests, mistakes_give_what_pytorch_gives);
    tcase_add_test(tests, a_key_that_no_query_sees_gets_zeros_over_the_queries);
    tcase_add_test(tests, notes_say_only_what_holds);
    tcase_add_test(tests, what_a_preset_does_not_use_is_refused);
    tcase_add_test(tests, sizes_that_do_not_fit_are_faults);
    tcase_add_test(tests, sixty_four_tokens_take_far_less_than_fifty_milliseconds);
}
