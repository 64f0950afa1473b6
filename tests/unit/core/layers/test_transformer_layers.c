/* The transformer's layers against PyTorch's numbers and against finite differences. */
#include "core/layers/activation.h"
#include "core/layers/attention/attention.h"
#include "core/layers/attention/multi_head.h"
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/embedding.h"
#include "core/layers/feedforward.h"
#include "core/layers/layer_norm.h"
#include "core/layers/masked_mean.h"
#include "core/layers/positions/sinusoidal.h"
#include "core/math/matrix.h"
#include "tests/reference/golden_transformer.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/main.h"

enum { PADDING = 1, CAUSAL = 2, TOKENS = 4, FIRST = 8 };

struct golden_case {
    const char *name;
    const struct layer_type *type;
    int flags;
    enum activation activation;
    const float *drawn, *parameters, *input, *output, *grad_output, *grad_input, *grad_parameters, *attention;
    size_t parameter_count, output_count;
};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#define GOLDEN(golden, layer_type, bits, function)                                                           \
    {                                                                                                        \
        .name = #golden, .type = &(layer_type), .flags = (bits), .activation = (function),                   \
        .drawn = golden##_drawn, .parameters = golden##_parameters, .input = golden##_input,                 \
        .output = golden##_output, .grad_output = golden##_grad_output, .grad_input = golden##_grad_input,   \
        .grad_parameters = golden##_grad_parameters, .attention = golden##_attention,                        \
        .parameter_count = COUNT_OF(golden##_parameters), .output_count = COUNT_OF(golden##_output)          \
    }

static const struct golden_case cases[] = {
    GOLDEN(embedding, layer_embedding, TOKENS, ACTIVATION_RELU),
    GOLDEN(layer_norm, layer_layer_norm, 0, ACTIVATION_RELU),
    GOLDEN(relu, layer_relu, 0, ACTIVATION_RELU),
    GOLDEN(gelu, layer_gelu, 0, ACTIVATION_RELU),
    GOLDEN(feedforward, layer_feedforward, 0, ACTIVATION_GELU),
    GOLDEN(attention, layer_multi_head_attention, PADDING, ACTIVATION_RELU),
    GOLDEN(causal_attention, layer_multi_head_attention, PADDING | CAUSAL, ACTIVATION_RELU),
    GOLDEN(torch_attention, layer_torch_multi_head_attention, CAUSAL, ACTIVATION_RELU),
    GOLDEN(block, layer_encoder_block, PADDING, ACTIVATION_RELU),
    GOLDEN(torch_block, layer_torch_encoder_block, 0, ACTIVATION_GELU),
    GOLDEN(masked_mean, layer_masked_mean, PADDING, ACTIVATION_RELU),
    GOLDEN(block_first, layer_encoder_block, PADDING | FIRST, ACTIVATION_RELU),
    GOLDEN(torch_block_first, layer_torch_encoder_block, FIRST, ACTIVATION_GELU),
    GOLDEN(sinusoidal, layer_sinusoidal_positions, 0, ACTIVATION_RELU),
};

/* The golden padding mask and tokens, in the layers' types. */
static uint8_t present[GOLDEN_COUNT * GOLDEN_STEPS];
static int32_t tokens[GOLDEN_COUNT * GOLDEN_STEPS];

static void fill_masks(void) {
    for (int i = 0; i < GOLDEN_COUNT * GOLDEN_STEPS; i++) {
        present[i] = i % GOLDEN_STEPS < golden_lengths[i / GOLDEN_STEPS];
        tokens[i] = golden_tokens[i];
    }
}

static struct layer make_layer(const struct layer_type *type, int flags, enum activation activation) {
    struct layer_options options = {.heads = GOLDEN_HEADS,
                                    .mask = flags & CAUSAL ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE,
                                    .norm = flags & FIRST ? BLOCK_NORM_FIRST : BLOCK_NORM_LAST,
                                    .feedforward_width = GOLDEN_HIDDEN,
                                    .activation = activation,
                                    .vocabulary_size = GOLDEN_VOCABULARY};
    struct layer_shape input = {GOLDEN_STEPS, flags & TOKENS ? 0 : GOLDEN_WIDTH};
    return layer_make(type, "", input, GOLDEN_WIDTH, &options);
}

static struct layer_run start_case(const struct golden_case *golden) {
    struct layer_run run =
        layer_run_start(make_layer(golden->type, golden->flags, golden->activation), GOLDEN_COUNT);
    fill_masks();
    if (golden->flags & PADDING)
        run.pass.present = present;
    if (golden->flags & TOKENS)
        run.pass.tokens = tokens;
    memcpy(run.parameters, golden->parameters, run.layer.parameter_count * sizeof(float));
    memcpy(run.input, golden->input, run.input_count * sizeof(float));
    memcpy(run.grad_output, golden->grad_output, run.output_count * sizeof(float));
    return run;
}

START_TEST(layer_agrees_with_torch) {
    const struct golden_case *golden = &cases[_i];
    struct layer_run run = start_case(golden);
    ck_assert_uint_eq(run.output_count, golden->output_count);
    /* Layers without parameters have one zero in the golden file. */
    ck_assert(run.layer.parameter_count == golden->parameter_count ||
              (run.layer.parameter_count == 0 && golden->parameter_count == 1));
    layer_run_forward(&run);
    layer_check_equal(golden->name, run.output, golden->output, run.output_count, 2e-6);
    if (run.layer.type->attention != NULL) {
        float weights[GOLDEN_COUNT * GOLDEN_HEADS * GOLDEN_STEPS * GOLDEN_STEPS];
        run.layer.type->attention(&run.layer, run.parameters, run.input, run.saved, weights, &run.pass);
        layer_check_equal("attention", weights, golden->attention, COUNT_OF(weights), 2e-6);
    }
    layer_run_backward(&run);
    layer_check_equal("grad_input", run.grad_input, golden->grad_input, run.input_count, 5e-6);
    layer_check_equal("grad_parameters", run.grad_parameters, golden->grad_parameters,
                      run.layer.parameter_count, 5e-6);
    layer_run_end(&run);
}
END_TEST

START_TEST(initial_values_match_torch) {
    const struct golden_case *golden = &cases[_i];
    struct layer_run run = start_case(golden);
    struct torch_generator generator;
    torch_generator_seed(&generator, 3);
    if (run.layer.type->initialise != NULL)
        run.layer.type->initialise(&run.layer, run.parameters, &generator);
    for (size_t i = 0; i < run.layer.parameter_count; i++)
        ck_assert_msg(run.parameters[i] == golden->drawn[i], "%s: parameter %zu is %.9g, torch draws %.9g",
                      golden->name, i, (double)run.parameters[i], (double)golden->drawn[i]);
    layer_run_end(&run);
}
END_TEST

START_TEST(gradients_agree_with_differences) {
    const struct golden_case *golden = &cases[_i];
    fill_masks();
    /* The padding row takes part in the output but has no gradient by definition: leave it out. */
    for (int i = 0; i < GOLDEN_COUNT * GOLDEN_STEPS; i++)
        tokens[i] = tokens[i] == 0 ? 1 : tokens[i];
    layer_check_gradients(make_layer(golden->type, golden->flags, golden->activation), GOLDEN_COUNT,
                          golden->flags & TOKENS ? tokens : NULL, golden->flags & PADDING ? present : NULL,
                          12);
}
END_TEST

/* The caller may leave out one of the gradients; the other must stay the same. */
START_TEST(unwanted_gradients_are_left_out) {
    const struct golden_case *golden = &cases[_i];
    struct layer_run run = start_case(golden);
    layer_run_forward(&run);
    run.layer.type->backward(&run.layer, run.parameters, run.input, run.output, run.saved, run.grad_output,
                             run.grad_input, NULL, &run.pass);
    layer_check_equal("grad_input", run.grad_input, golden->grad_input, run.input_count, 5e-6);
    memcpy(run.grad_output, golden->grad_output, run.output_count * sizeof(float));
    layer_run_forward(&run);
    run.layer.type->backward(&run.layer, run.parameters, run.input, run.output, run.saved, run.grad_output,
                             NULL, run.grad_parameters, &run.pass);
    layer_check_equal("grad_parameters", run.grad_parameters, golden->grad_parameters,
                      run.layer.parameter_count, 5e-6);
    layer_run_end(&run);
}
END_TEST

START_TEST(hidden_keys_have_no_weight) {
    const struct golden_case *golden = &cases[6]; /* padding and causal */
    struct layer_run run = start_case(golden);
    layer_run_forward(&run);
    float weights[GOLDEN_COUNT][GOLDEN_HEADS][GOLDEN_STEPS][GOLDEN_STEPS];
    run.layer.type->attention(&run.layer, run.parameters, run.input, run.saved, &weights[0][0][0][0],
                              &run.pass);
    for (int i = 0; i < GOLDEN_COUNT; i++)
        for (int head = 0; head < GOLDEN_HEADS; head++)
            for (int query = 0; query < GOLDEN_STEPS; query++)
                for (int key = 0; key < GOLDEN_STEPS; key++)
                    ck_assert((weights[i][head][query][key] > 0) ==
                              (key <= query && key < golden_lengths[i]));
    layer_run_end(&run);
}
END_TEST

/* For a sequence of nothing but padding the weights are defined as zeros, so the output is its bias. */
START_TEST(all_hidden_is_all_zero) {
    const struct golden_case *golden = &cases[5];
    struct layer_run run = start_case(golden);
    uint8_t nothing[GOLDEN_COUNT * GOLDEN_STEPS] = {0};
    run.pass.present = nothing;
    layer_run_forward(&run);
    float weights[GOLDEN_COUNT * GOLDEN_HEADS * GOLDEN_STEPS * GOLDEN_STEPS];
    run.layer.type->attention(&run.layer, run.parameters, run.input, run.saved, weights, &run.pass);
    for (size_t i = 0; i < COUNT_OF(weights); i++)
        ck_assert(weights[i] == 0);
    const float *bias = run.parameters + run.layer.parameter_count - GOLDEN_WIDTH;
    for (size_t i = 0; i < run.output_count; i++)
        ck_assert(run.output[i] == bias[i % GOLDEN_WIDTH]);
    layer_run_backward(&run);
    for (size_t i = 0; i < run.input_count; i++)
        ck_assert(run.grad_input[i] == 0);
    layer_run_end(&run);
}
END_TEST

START_TEST(mean_of_nothing_is_zero) {
    struct layer_run run = start_case(&cases[10]);
    uint8_t nothing[GOLDEN_COUNT * GOLDEN_STEPS] = {0};
    run.pass.present = nothing;
    layer_run_forward(&run);
    for (size_t i = 0; i < run.output_count; i++)
        ck_assert(run.output[i] == 0);
    layer_run_end(&run);
}
END_TEST

enum { REAL = 20, WIDTH = 6 };

/* Runs attention over REAL steps followed by padding. */
static struct layer_run run_padded(size_t steps, enum attention_mask mask, const uint8_t *is_present) {
    struct layer_options options = {.heads = 2, .mask = mask};
    struct layer layer =
        layer_make(&layer_multi_head_attention, "", (struct layer_shape){steps, WIDTH}, WIDTH, &options);
    struct layer_run run = layer_run_start(layer, 1);
    struct torch_generator generator;
    torch_generator_seed(&generator, 5);
    torch_normal(&generator, run.parameters, layer.parameter_count, 0, 0.7);
    torch_normal(&generator, run.input, REAL * WIDTH, 0, 1);
    torch_normal(&generator, run.grad_output, REAL * WIDTH, 0, 1);
    for (size_t i = REAL * WIDTH; i < run.input_count; i++)
        run.input[i] = 3; /* would change the result if it were used */
    run.pass.kernels = kernels_choose();
    run.pass.present = is_present;
    layer_run_forward(&run);
    return run;
}

/* A head's algorithm depends on its length; all three must give the same answer. */
START_TEST(padding_does_not_change_the_steps_before_it) {
    static const size_t lengths[] = {40, TILED_ATTENTION_STEPS};
    static uint8_t is_present[TILED_ATTENTION_STEPS];
    static float weights[2][2 * REAL * TILED_ATTENTION_STEPS];
    const size_t steps = lengths[_i / 2];
    memset(is_present, 1, REAL);
    struct layer_run runs[2];
    for (size_t i = 0; i < 2; i++) {
        runs[i] = run_padded(i == 0 ? REAL : steps, _i % 2 == 0 ? ATTENTION_MASK_NONE : ATTENTION_MASK_CAUSAL,
                             is_present);
        runs[i].layer.type->attention_rows(&runs[i].layer, runs[i].parameters, runs[i].input, runs[i].saved,
                                           0, REAL, weights[i], &runs[i].pass);
    }
    layer_check_equal("output", runs[1].output, runs[0].output, REAL * WIDTH, 2e-6);
    for (size_t row = 0; row < 2 * REAL; row++) {
        const float *padded = weights[1] + row * steps;
        layer_check_equal("weights", padded, weights[0] + row * REAL, REAL, 2e-6);
        for (size_t key = REAL; key < steps; key++)
            ck_assert(padded[key] == 0);
    }
    for (size_t i = 0; i < 2; i++)
        layer_run_backward(&runs[i]);
    layer_check_equal("grad_input", runs[1].grad_input, runs[0].grad_input, REAL * WIDTH, 5e-6);
    layer_check_equal("grad_parameters", runs[1].grad_parameters, runs[0].grad_parameters,
                      runs[0].layer.parameter_count, 2e-5);
    for (size_t i = 0; i < 2; i++)
        layer_run_end(&runs[i]);
}
END_TEST

/* Like all_hidden_is_all_zero, at other lengths. */
START_TEST(only_padding_is_all_zero_at_every_length) {
    static const size_t lengths[] = {REAL, 40, TILED_ATTENTION_STEPS};
    static const uint8_t nothing[TILED_ATTENTION_STEPS];
    static float weights[2 * REAL * TILED_ATTENTION_STEPS];
    struct layer_run run = run_padded(lengths[_i], ATTENTION_MASK_NONE, nothing);
    const float *bias = run.parameters + run.layer.parameter_count - WIDTH;
    for (size_t i = 0; i < run.output_count; i++)
        ck_assert(run.output[i] == bias[i % WIDTH]);
    run.layer.type->attention_rows(&run.layer, run.parameters, run.input, run.saved, 0, REAL, weights,
                                   &run.pass);
    for (size_t i = 0; i < 2 * REAL * lengths[_i]; i++)
        ck_assert(weights[i] == 0);
    layer_run_backward(&run);
    for (size_t i = 0; i < run.input_count; i++)
        ck_assert(run.grad_input[i] == 0);
    layer_run_end(&run);
}
END_TEST

START_TEST(vector_kernels_agree_with_torch_too) {
    const struct golden_case *golden = &cases[8];
    struct layer_run run = start_case(golden);
    run.pass.kernels = kernels_choose();
    layer_run_forward(&run);
    layer_check_equal(golden->name, run.output, golden->output, run.output_count, 2e-6);
    layer_run_end(&run);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_loop_test(tests, layer_agrees_with_torch, 0, COUNT_OF(cases));
    tcase_add_loop_test(tests, initial_values_match_torch, 0, COUNT_OF(cases));
    tcase_add_loop_test(tests, gradients_agree_with_differences, 0, COUNT_OF(cases));
    tcase_add_loop_test(tests, unwanted_gradients_are_left_out, 0, COUNT_OF(cases));
    tcase_add_test(tests, hidden_keys_have_no_weight);
    tcase_add_test(tests, all_hidden_is_all_zero);
    tcase_add_test(tests, mean_of_nothing_is_zero);
    tcase_add_loop_test(tests, padding_does_not_change_the_steps_before_it, 0, 4);
    tcase_add_loop_test(tests, only_padding_is_all_zero_at_every_length, 0, 3);
    tcase_add_test(tests, vector_kernels_agree_with_torch_too);
}
