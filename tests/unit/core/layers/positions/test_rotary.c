/* Rotary positions against PyTorch's numbers, against finite differences, and in whole runs. */
#include "core/layers/attention/multi_head.h"
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/tiled.h"
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/positions/position.h"
#include "core/math/matrix.h"
#include "tests/reference/golden_rotary.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/main.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* --- one vector --- */

/* Rotates six numbers per step, in place. */
START_TEST(neighbours_turn_as_in_roformer) {
    static const float expected[3][6] = {
        {-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F},
        {3.99473524F, 1.59439278F, -1.47518492F, -0.569060326F, 0.496767193F, 1.50107372F},
        {-4.22290802F, 0.816729426F, -2.35018778F, -1.72528768F, -0.502149761F, 0.497840911F}};
    float vectors[3][6] = {{-2.5F, -1.5F, -0.5F, 0.5F, 1.5F, 2.5F},
                           {3.5F, -2.5F, -1.5F, -0.5F, 0.5F, 1.5F},
                           {2.5F, 3.5F, -2.5F, -1.5F, -0.5F, 0.5F}};
    float before[3][6], rotations[3][6];
    memcpy(before, vectors, sizeof before);
    position_rotary.fill_rotations(&rotations[0][0], 3, 6);
    for (size_t t = 0; t < 3; t++) {
        position_rotary.rotate(rotations[t], vectors[t], 6, false);
        layer_check_equal("turned", vectors[t], expected[t], 6, 1e-7);
        position_rotary.rotate(rotations[t], vectors[t], 6, true);
        layer_check_equal("turned back", vectors[t], before[t], 6, 2e-7);
    }
}
END_TEST

/* The product of two rotated vectors depends on the distance of their steps, not on their positions. */
START_TEST(products_depend_on_distances) {
    enum { WIDTH = 8, STEPS = 90, DISTANCE = 7 };
    static float rotations[STEPS][WIDTH];
    double first = 0;
    position_rotary.fill_rotations(&rotations[0][0], STEPS, WIDTH);
    for (size_t t = 0; t + DISTANCE < STEPS; t++) {
        float query[WIDTH] = {1, -2, 0.5F, 3, -1, 1, 2, 0.25F}, key[WIDTH] = {2, 1, -1, 0.5F, 1, 3, -2, 1};
        position_rotary.rotate(rotations[t + DISTANCE], query, WIDTH, false);
        position_rotary.rotate(rotations[t], key, WIDTH, false);
        double product = 0;
        for (size_t i = 0; i < WIDTH; i++)
            product += (double)query[i] * (double)key[i];
        if (t == 0)
            first = product;
        ck_assert_double_le(fabs(product - first), 5e-6);
    }
}
END_TEST

/* --- layers --- */

static const struct rotary_case {
    const struct layer_type *type;
    bool is_padded, is_causal;
    const float *parameters, *input, *output, *grad_output, *grad_input, *grad_parameters, *attention;
    size_t parameter_count, output_count, weight_count;
} cases[] = {
#define CASE(golden, layer_type, padded, causal)                                                             \
    {                                                                                                        \
        &(layer_type), padded, causal, golden##_parameters, golden##_input, golden##_output,                 \
            golden##_grad_output, golden##_grad_input, golden##_grad_parameters, golden##_attention,         \
            COUNT_OF(golden##_parameters), COUNT_OF(golden##_output), COUNT_OF(golden##_attention)           \
    }
    CASE(rotary_heads, layer_multi_head_attention, true, false),
    CASE(rotary_causal_heads, layer_multi_head_attention, true, true),
    CASE(rotary_pooled, layer_pooled_attention, false, true),
    CASE(rotary_pooled, layer_tiled_attention, false, true),
};

static uint8_t present[GOLDEN_COUNT * GOLDEN_STEPS];

static const uint8_t *fill_present(void) {
    for (int i = 0; i < GOLDEN_COUNT * GOLDEN_STEPS; i++)
        present[i] = i % GOLDEN_STEPS < golden_lengths[i / GOLDEN_STEPS];
    return present;
}

static struct layer make(const struct layer_type *type, bool is_causal) {
    struct layer_options options = {.heads = GOLDEN_HEADS,
                                    .mask = is_causal ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE,
                                    .position = &position_rotary,
                                    .feedforward_width = 3,
                                    .activation = ACTIVATION_GELU};
    return layer_make(type, "", (struct layer_shape){GOLDEN_STEPS, GOLDEN_WIDTH}, 0, &options);
}

START_TEST(attention_agrees_with_torch) {
    const struct rotary_case *golden = &cases[_i / 2];
    float weights[GOLDEN_COUNT * GOLDEN_HEADS * GOLDEN_STEPS * GOLDEN_STEPS];
    struct layer_run run = layer_run_start(make(golden->type, golden->is_causal), GOLDEN_COUNT);
    ck_assert_uint_eq(run.layer.parameter_count, golden->parameter_count);
    ck_assert_uint_eq(run.output_count, golden->output_count);
    run.pass.kernels = _i % 2 == 0 ? &kernels_plain : kernels_choose();
    run.pass.present = golden->is_padded ? fill_present() : NULL;
    memcpy(run.parameters, golden->parameters, golden->parameter_count * sizeof(float));
    memcpy(run.input, golden->input, run.input_count * sizeof(float));
    memcpy(run.grad_output, golden->grad_output, run.output_count * sizeof(float));
    layer_run_forward(&run);
    layer_check_equal("output", run.output, golden->output, run.output_count, 2e-6);
    if (golden->type->attention != NULL)
        golden->type->attention(&run.layer, run.parameters, run.input, run.saved, weights, &run.pass);
    else
        golden->type->attention_rows(&run.layer, run.parameters, run.input, run.saved, 0, GOLDEN_STEPS,
                                     weights, &run.pass);
    layer_check_equal("attention", weights, golden->attention, golden->weight_count, 2e-6);
    layer_run_backward(&run);
    layer_check_equal("grad_input", run.grad_input, golden->grad_input, run.input_count, 5e-6);
    layer_check_equal("grad_parameters", run.grad_parameters, golden->grad_parameters,
                      golden->parameter_count, 5e-6);
    layer_run_end(&run);
}
END_TEST

START_TEST(gradients_agree_with_differences) {
    static const struct layer_type *const types[] = {&layer_pooled_attention, &layer_tiled_attention,
                                                     &layer_multi_head_attention, &layer_encoder_block};
    layer_check_gradients(make(types[_i / 2], _i % 2 == 0), GOLDEN_COUNT, NULL,
                          _i % 2 == 0 ? NULL : fill_present(), 5);
}
END_TEST

/* --- runs --- */

START_TEST(models_train) {
    static const char *const models[] = {"attention", "transformer"};
    static const char *const tasks[] = {"first-element", "reviews"};
    static const char *const masks[] = {"none", "causal"};
    struct result_tree tree = {0};
    run_experiment(&experiment_train,
                   SETTINGS("model", models[_i % 2], "task", tasks[_i / 2 % 2], "mask", masks[_i / 4],
                            "position", "rotary", "epochs", "2", "train_examples", "130", "test_examples",
                            "30", "sequence_length", "12", "layers", "2"),
                   &tree);
    ck_assert(result_tree_value(&tree, "steps") == 6);
    ck_assert(isfinite(result_tree_value(&tree, "train_loss")));
    ck_assert(result_tree_has(&tree, "attention"));
    result_tree_free(&tree);
}
END_TEST

START_TEST(a_shuffled_input_changes_the_output) {
    struct result_tree tree = {0};
    run_experiment(&experiment_permutation,
                   SETTINGS("sequence_length", "12", "examples", "4", "position", "rotary"), &tree);
    ck_assert(result_tree_value(&tree, "max_difference") > 1e-6);
    result_tree_free(&tree);
}
END_TEST

START_TEST(odd_heads_are_refused) {
    assert_rejected(&experiment_train, SETTINGS("position", "rotary", "model", "attention", "width", "33"),
                    "position",
                    "cannot be rotary: the width of a head (width / heads) must be a multiple of 2; got 33");
    assert_rejected(&experiment_train,
                    SETTINGS("position", "rotary", "model", "transformer", "width", "20", "heads", "4"),
                    "position",
                    "cannot be rotary: the width of a head (width / heads) must be a multiple of 2; got 5");
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(&experiment_train, SETTINGS("position", "rotary", "model", "rnn", "width", "33"), &set,
                       &faults);
    ck_assert_uint_eq(faults.count, 0);
    parameter_set_free(&set);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, neighbours_turn_as_in_roformer);
    tcase_add_test(tests, products_depend_on_distances);
    tcase_add_loop_test(tests, attention_agrees_with_torch, 0, 2 * (int)COUNT_OF(cases));
    tcase_add_loop_test(tests, gradients_agree_with_differences, 0, 8);
    tcase_add_loop_test(tests, models_train, 0, 8);
    tcase_add_test(tests, a_shuffled_input_changes_the_output);
    tcase_add_test(tests, odd_heads_are_refused);
}
