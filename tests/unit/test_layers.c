/* The chapter's layers: against PyTorch (values made in double), and their gradients against differences. */
#include "core/layers/linear.h"
#include "core/layers/pooled_attention.h"
#include "core/layers/positions.h"
#include "core/layers/recurrent.h"
#include "tests/reference/golden_layers.h"
#include "tests/unit/layer_check.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Parameters, input, output, the loss's weights and both gradients of one layer. */
struct golden_layer {
    const struct layer_type *type;
    struct layer_shape input;
    size_t count, width;
    enum attention_mask mask;
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
};

static struct layer make(const struct golden_layer *golden) {
    struct layer_options options = {.mask = golden->mask};
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

START_TEST(layers_are_pytorchs) {
    check_golden(&layers[_i], &kernels_plain);
    check_golden(&layers[_i], kernels_choose());
}
END_TEST

START_TEST(gradients_are_those_of_differences) {
    layer_check_gradients(make(&layers[_i]), layers[_i].count, NULL, NULL, 5);
}
END_TEST

/* Example 0 is whole, example 1 has two real steps, example 2 none. */
START_TEST(gradients_with_padding_are_those_of_differences) {
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

/* What lies in padded steps must not reach the output. */
START_TEST(padding_does_not_count) {
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

int main(void) {
    Suite *suite = suite_create("layers");
    TCase *tests = tcase_create("layers");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, layers_are_pytorchs, 0, (int)COUNT_OF(layers));
    tcase_add_loop_test(tests, gradients_are_those_of_differences, 0, (int)COUNT_OF(layers));
    tcase_add_loop_test(tests, gradients_with_padding_are_those_of_differences, 0, 4);
    tcase_add_loop_test(tests, padding_does_not_count, 0, 3);
    tcase_add_test(tests, learned_positions);
    tcase_add_test(tests, unused_positions_change_nothing);
    tcase_add_test(tests, attention_weights_can_be_read);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
