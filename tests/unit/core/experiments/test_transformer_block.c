/* transformer-block against PyTorch's nn.MultiheadAttention block. */
#include "tests/reference/golden_experiment.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <stdio.h>

static struct result_tree tree;
static const struct experiment *const experiment = &experiment_transformer_block;

static void teardown(void) {
    result_tree_free(&tree);
}

START_TEST(one_block_matches_pytorch) {
    run_experiment(experiment, NULL, &tree);
    assert_equal(&tree, "input", GOLDEN(golden_block_input));
    assert_near(&tree, "output", GOLDEN(golden_block_output), 1e-6);
    ck_assert(result_tree_value(&tree, "parameter_count") == 12704);
    const float shape[] = {2, 10, 32};
    assert_equal(&tree, "input_shape", GOLDEN(shape));
    assert_equal(&tree, "output_shape", GOLDEN(shape));
    const float weights_shape[] = {2, 4, 10, 10};
    assert_equal(&tree, "weights_shape", GOLDEN(weights_shape));
}
END_TEST

START_TEST(stacked_blocks_match_pytorch) {
    run_experiment(experiment,
                   SETTINGS("seed", "7", "batch", "1", "tokens", "5", "width", "12", "heads", "3",
                            "feedforward_width", "20", "activation", "relu", "layers", "2"),
                   &tree);
    assert_near(&tree, "output", GOLDEN(golden_stack_output), 1e-6);
    assert_equal(&tree, "parameter_count", GOLDEN(golden_stack_parameter_count));
}
END_TEST

START_TEST(stacked_blocks_that_normalise_first_match_pytorch) {
    run_experiment(experiment,
                   SETTINGS("seed", "7", "batch", "1", "tokens", "5", "width", "12", "heads", "3",
                            "feedforward_width", "20", "activation", "relu", "layers", "2", "norm", "first"),
                   &tree);
    assert_near(&tree, "output", GOLDEN(golden_stack_first_output), 1e-6);
    assert_equal(&tree, "parameter_count", GOLDEN(golden_stack_parameter_count));
}
END_TEST

START_TEST(the_parts_add_up) {
    run_experiment(experiment, _i == 0 ? SETTINGS("layers", "3") : SETTINGS("layers", "3", "norm", "first"),
                   &tree);
    double sum = 0;
    size_t count = result_tree_length(&tree, "parts");
    ck_assert_uint_eq(count, 18);
    for (size_t i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "parts.%zu.parameter_count", i);
        sum += result_tree_value(&tree, path);
        snprintf(path, sizeof path, "parts.%zu.job", i);
        ck_assert_int_eq(result_tree_get(&tree, path)->kind, RESULT_TEXT);
    }
    ck_assert(sum == result_tree_value(&tree, "parameter_count"));
    ck_assert(sum == 3 * 12704);
}
END_TEST

START_TEST(bad_sizes_are_faults) {
    assert_rejected(experiment, SETTINGS("heads", "5"), "heads", "must divide the width, 32; got 5");
    assert_rejected(experiment, SETTINGS("tokens", "512", "batch", "64"), "tokens",
                    "times batch and width must be at most 65536 numbers; got 1048576");
    assert_cancelled(experiment, NULL);
    assert_cancelled_after(experiment, SETTINGS("layers", "4"), 6); /* both while drawing and in the pass */
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, one_block_matches_pytorch);
    tcase_add_test(tests, stacked_blocks_match_pytorch);
    tcase_add_test(tests, stacked_blocks_that_normalise_first_match_pytorch);
    tcase_add_loop_test(tests, the_parts_add_up, 0, 2);
    tcase_add_test(tests, bad_sizes_are_faults);
}
