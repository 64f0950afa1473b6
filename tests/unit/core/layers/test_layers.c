/* The chapter's layers: against PyTorch (values made in double), and their gradients against differences. */
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/scalar.h"
#include "core/layers/linear.h"
#include "core/layers/positions/learned.h"
#include "core/layers/positions/position.h"
#include "core/layers/recurrent.h"
#include "core/math/matrix.h"
#include "core/model/model.h"
#include "tests/reference/golden_layers.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/main.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Parameters, input, output, the loss's weights and both gradients of one layer. */
struct golden_layer {
    const struct layer_type *type;
    struct layer_shape input;
    size_t count, width;
    enum attention_mask mask;
    bool unscaled_scores;
    const float *parameters, *values, *output, *weights, *grad_input, *grad_parameters;
    size_t parameter_count, output_count;
};

#define GOLDEN(name)                                                                                         \
    .parameters = golden_##name##_parameters, .values = golden_##name##_input,                               \
    .output = golden_##name##_output, .weights = golden_##name##_weights,                                    \
    .grad_input = golden_##name##_grad_input, .grad_parameters = golden_##name##_grad_parameters,            \
    .parameter_count = COUNT_OF(golden_##name##_parameters),                                                 \
    .output_count = COUNT_OF(golden_##name##_output)

static const struct golden_layer layers[] = {
    {.type = &layer_linear, .input = {4, 5}, .count = 2, .width = 3, GOLDEN(linear)},
    {.type = &layer_rnn, .input = {6, 3}, .count = 3, .width = 10, GOLDEN(rnn)},
    {.type = &layer_lstm, .input = {6, 3}, .count = 3, .width = 10, GOLDEN(lstm)},
    {.type = &layer_pooled_attention, .input = {9, 6}, .count = 2, GOLDEN(pooled_attention)},
    {.type = &layer_pooled_attention,
     .input = {9, 6},
     .count = 2,
     .mask = ATTENTION_MASK_CAUSAL,
     GOLDEN(causal_attention)},
    {.type = &layer_pooled_attention,
     .input = {9, 6},
     .count = 2,
     .unscaled_scores = true,
     GOLDEN(unscaled_attention)},
};

static struct layer make(const struct golden_layer *golden) {
    struct layer_options options = {.mask = golden->mask, .unscaled_scores = golden->unscaled_scores};
    return layer_make(golden->type, "", golden->input, golden->width, &options);
}

static void check_golden(const struct golden_layer *golden, const struct kernels *kernels) {
    struct layer_run run = layer_run_start(make(golden), golden->count);
    run.pass.kernels = kernels;
    ck_assert_uint_eq(run.layer.parameter_count, golden->parameter_count);
    ck_assert_uint_eq(run.output_count, golden->output_count);
    memcpy(run.parameters, golden->parameters, golden->parameter_count * sizeof(float));
    memcpy(run.input, golden->values, run.input_count * sizeof(float));
    memcpy(run.grad_output, golden->weights, run.output_count * sizeof(float));
    layer_run_forward(&run);
    layer_check_equal("output", run.output, golden->output, run.output_count, 1e-6);
    layer_run_backward(&run);
    layer_check_equal("input gradient", run.grad_input, golden->grad_input, run.input_count, 2e-6);
    layer_check_equal("parameter gradient", run.grad_parameters, golden->grad_parameters,
                      golden->parameter_count, 2e-6);
    layer_run_end(&run);
}

START_TEST(layers_match_pytorch) {
    check_golden(&layers[_i], &kernels_plain);
    check_golden(&layers[_i], kernels_choose());
}
END_TEST

START_TEST(gradients_agree_with_differences) {
    layer_check_gradients(make(&layers[_i]), layers[_i].count, NULL, NULL, 5);
}
END_TEST

/* Example 0 is whole, example 1 has two real steps, example 2 none. */
START_TEST(gradients_with_padding_agree_with_differences) {
    static const uint8_t present[] = {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    static const struct layer_type *const types[] = {&layer_rnn, &layer_lstm, &layer_pooled_attention};
    struct layer_options options = {.mask = _i == 3 ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE};
    struct layer layer = layer_make(_i == 3 ? &layer_pooled_attention : types[_i], "",
                                    (struct layer_shape){5, 4}, 4, &options);
    layer_check_gradients(layer, 3, NULL, present, 6);
}
END_TEST

START_TEST(learned_positions) {
    struct layer layer = layer_make(&layer_learned_positions, "", (struct layer_shape){5, 3}, 0, NULL);
    layer_check_gradients(layer, 3, NULL, NULL, 7);
    struct tensor tensors[LAYER_MAXIMUM_TENSORS];
    ck_assert_uint_eq(layer_tensors(&layer, tensors), 1);
    ck_assert_str_eq(tensors[0].name, "pos");
    ck_assert(tensors[0].shape[0] == 1 && tensors[0].shape[1] == 5 && tensors[0].shape[2] == 3);
    ck_assert_uint_eq(layer.parameter_count, 15);
}
END_TEST

/* Fewer than 16 numbers: torch.manual_seed(3), then empty(1, 3, 2).normal_(0, 0.02), and randn(1, 3, 2) *
 * 0.02. */
START_TEST(few_positions_are_drawn_as_in_pytorch) {
    static const float lab[] = {0.0160655212F,  0.00349666784F,  0.00177956186F,
                                -0.0122743603F, 0.000923649059F, -0.0273651835F},
                       chapter[] = {0.0160655212F,  0.0034966676F, 0.00177956186F,
                                    -0.0122743603F, 0.000923649F,  -0.0273651835F};
    static const struct {
        const struct layer_type *type;
        const float *expected;
    } cases[] = {
        {&layer_lab_positions, lab}, {&layer_unused_positions, lab}, {&layer_learned_positions, chapter}};
    for (size_t i = 0; i < 3; i++) {
        float drawn[6];
        struct torch_generator generator;
        struct layer layer = layer_make(cases[i].type, "", (struct layer_shape){3, 2}, 0, NULL);
        torch_generator_seed(&generator, 3);
        layer.type->initialise(&layer, drawn, &generator);
        ck_assert_mem_eq(drawn, cases[i].expected, sizeof drawn);
    }
}
END_TEST

START_TEST(unused_positions_change_nothing) {
    struct layer layer = layer_make(&layer_unused_positions, "", (struct layer_shape){5, 3}, 0, NULL);
    struct layer_run run = layer_run_start(layer, 2);
    for (size_t i = 0; i < run.input_count; i++)
        run.input[i] = (float)i;
    for (size_t i = 0; i < layer.parameter_count; i++)
        run.parameters[i] = 1;
    layer_run_forward(&run);
    ck_assert_mem_eq(run.output, run.input, run.input_count * sizeof(float));
    memcpy(run.grad_output, run.output, run.output_count * sizeof(float));
    layer_run_backward(&run);
    ck_assert_mem_eq(run.grad_input, run.output, run.input_count * sizeof(float));
    for (size_t i = 0; i < layer.parameter_count; i++)
        ck_assert(run.grad_parameters[i] == 0);
    layer_run_end(&run);
}
END_TEST

/* The values in padded steps must not affect the output. */
START_TEST(padding_has_no_effect) {
    static const struct layer_type *const types[] = {&layer_rnn, &layer_lstm, &layer_pooled_attention};
    static const uint8_t present[] = {1, 1, 1, 0, 0};
    struct layer whole = layer_make(types[_i], "", (struct layer_shape){3, 4}, 4, NULL);
    struct layer padded = layer_make(types[_i], "", (struct layer_shape){5, 4}, 4, NULL);
    struct layer_run runs[] = {layer_run_start(whole, 1), layer_run_start(padded, 1)};
    struct torch_generator generator;
    torch_generator_seed(&generator, 8);
    torch_normal(&generator, runs[0].parameters, whole.parameter_count, 0, 1);
    torch_normal(&generator, runs[1].input, runs[1].input_count, 0, 1);
    memcpy(runs[1].parameters, runs[0].parameters, whole.parameter_count * sizeof(float));
    memcpy(runs[0].input, runs[1].input, runs[0].input_count * sizeof(float));
    runs[1].pass.present = present;
    layer_run_forward(&runs[0]);
    layer_run_forward(&runs[1]);
    layer_check_equal("output", runs[1].output, runs[0].output, runs[0].output_count, 1e-6);
    layer_run_end(&runs[0]);
    layer_run_end(&runs[1]);
}
END_TEST

START_TEST(attention_weights_can_be_read) {
    struct layer_options options = {.mask = ATTENTION_MASK_CAUSAL};
    struct layer layer = layer_make(&layer_pooled_attention, "", (struct layer_shape){4, 3}, 0, &options);
    struct layer_run run = layer_run_start(layer, 2);
    float weights[2][4][4];
    layer_run_forward(&run);
    layer.type->attention(&layer, run.parameters, run.input, run.saved, &weights[0][0][0], &run.pass);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            ck_assert_float_eq_tol(weights[1][i][j], j <= i ? 1 / (float)(i + 1) : 0, 1e-6F);
    layer_run_end(&run);
}
END_TEST

/* Every position and mask: the fused layer's differences, and the three general layers in its place. */
static struct layer_options scalar_options(int index) {
    static const struct position *const positions[] = {&position_learned, &position_sinusoidal,
                                                       &position_none};
    return (struct layer_options){.position = positions[index % 3],
                                  .mask = index / 3 % 2 ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE};
}

static const uint8_t scalar_present[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0,
                                         0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

START_TEST(scalar_attention_gradients_agree_with_differences) {
    struct layer_options options = scalar_options(_i);
    struct layer layer = layer_make(&layer_scalar_attention, "", (struct layer_shape){9, 1}, 6, &options);
    layer_check_gradients(layer, 2, NULL, _i < 6 ? NULL : scalar_present, 9);
}
END_TEST

/* One model forward and backward: output, weights, both gradients, one behind the other. */
static float *run_model(const struct model *model, size_t count, const uint8_t *present,
                        const struct kernels *kernels, size_t *total) {
    size_t steps = model->input.steps, width = model->class_count, matrices = count * steps * steps;
    *total = count * width + matrices + count * steps + model->parameter_count;
    float *results = layer_check_floats(*total), *values = layer_check_floats(count * steps);
    float *parameters = layer_check_floats(model->parameter_count),
          *weights = layer_check_floats(count * width);
    struct arena measure = arena_measuring(), arena;
    struct model_workspace workspace;
    model_workspace_layout(&workspace, model, count, true, &measure);
    ck_assert(arena_init(&arena, measure.used, NULL));
    model_workspace_layout(&workspace, model, count, true, &arena);
    struct torch_generator generator;
    torch_generator_seed(&generator, 10);
    torch_normal(&generator, parameters, model->parameter_count, 0, 0.5);
    torch_normal(&generator, values, count * steps, 0, 1);
    torch_normal(&generator, weights, count * width, 0, 1);
    struct model_batch batch = {.count = count, .values = values, .present = present};
    memcpy(results, model_forward(model, parameters, &workspace, &batch, kernels),
           count * width * sizeof(float));
    model_attention(model, parameters, &workspace, &batch, 0, results + count * width, kernels);
    model_backward(model, parameters, &workspace, &batch, weights, results + count * width + matrices,
                   results + count * width + matrices + count * steps, kernels);
    arena_free(&arena);
    free(parameters);
    free(values);
    free(weights);
    return results;
}

START_TEST(scalar_attention_equals_the_general_layers) {
    struct layer_options options = scalar_options(_i);
    struct model fused = {.input = {9, 1}}, general = {.input = {9, 1}};
    model_add_layer(&fused, &layer_scalar_attention, "", 6, &options);
    model_add_layer(&general, &layer_linear, "inp", 6, NULL);
    if (position_adds(options.position))
        model_add_layer(&general, options.position->layer, "", 0, NULL);
    model_add_layer(&general, &layer_pooled_attention, "", 0, &options);
    struct tensor fused_tensors[MODEL_MAXIMUM_TENSORS], general_tensors[MODEL_MAXIMUM_TENSORS];
    size_t count = model_tensors(&fused, fused_tensors), total;
    ck_assert_uint_eq(count, model_tensors(&general, general_tensors));
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(fused_tensors[i].name, general_tensors[i].name);
        ck_assert_uint_eq(fused_tensors[i].offset, general_tensors[i].offset);
    }
    const uint8_t *present = _i < 6 ? NULL : scalar_present;
    float *expected = run_model(&general, 2, present, &kernels_plain, &total);
    const struct kernels *both[] = {&kernels_plain, kernels_choose()};
    for (size_t i = 0; i < 2; i++) {
        float *got = run_model(&fused, 2, present, both[i], &total);
        layer_check_equal("fused result", got, expected, total, 5e-6);
        free(got);
    }
    free(expected);
}
END_TEST

/* The layer sums this many steps in pieces. */
START_TEST(large_batches_equal_their_parts) {
    enum { HALF = 525, STEPS = 2, HIDDEN = 512 };
    struct layer layer = layer_make(&layer_lstm, "", (struct layer_shape){STEPS, 1}, HIDDEN, NULL);
    struct layer_run whole = layer_run_start(layer, 2 * HALF), half = layer_run_start(layer, HALF);
    struct torch_generator generator;
    torch_generator_seed(&generator, 9);
    layer.type->initialise(&layer, whole.parameters, &generator);
    memcpy(half.parameters, whole.parameters, layer.parameter_count * sizeof(float));
    torch_normal(&generator, whole.input, whole.input_count, 0, 1);
    whole.pass.kernels = half.pass.kernels = kernels_choose();
    layer_run_forward(&whole);
    for (size_t i = 0; i < 2; i++) {
        memcpy(half.input, whole.input + i * half.input_count, half.input_count * sizeof(float));
        layer_run_forward(&half);
        layer_check_equal("output", whole.output + i * half.output_count, half.output, half.output_count,
                          2e-6);
    }
    layer_run_end(&whole);
    layer_run_end(&half);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, layers_match_pytorch, 0, (int)COUNT_OF(layers));
    tcase_add_loop_test(tests, gradients_agree_with_differences, 0, (int)COUNT_OF(layers));
    tcase_add_loop_test(tests, gradients_with_padding_agree_with_differences, 0, 4);
    tcase_add_loop_test(tests, padding_has_no_effect, 0, 3);
    tcase_add_loop_test(tests, scalar_attention_gradients_agree_with_differences, 0, 12);
    tcase_add_loop_test(tests, scalar_attention_equals_the_general_layers, 0, 12);
    tcase_add_test(tests, large_batches_equal_their_parts);
    tcase_add_test(tests, learned_positions);
    tcase_add_test(tests, few_positions_are_drawn_as_in_pytorch);
    tcase_add_test(tests, unused_positions_change_nothing);
    tcase_add_test(tests, attention_weights_can_be_read);
}
