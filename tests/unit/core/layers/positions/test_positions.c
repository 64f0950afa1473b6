/* The table of positions, and attention with a position that turns queries and keys. */
#include "core/layers/attention/attention.h"
#include "core/layers/attention/multi_head.h"
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/tiled.h"
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/positions/position.h"
#include "core/math/matrix.h"
#include "core/model/models.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/core/layers/turning_position.h"
#include "tests/unit/main.h"

START_TEST(every_position_is_found_by_its_name) {
    size_t count = 0;
    for (; position_table[count] != NULL; count++) {
        const struct position *position = position_table[count];
        ck_assert_str_eq(position->name, position_names[count]);
        ck_assert_ptr_eq(position_find(position->name), position);
        ck_assert((position->rotate == NULL) == (position->fill_rotations == NULL));
    }
    ck_assert_ptr_null(position_names[count]);
    ck_assert_ptr_null(position_find("elsewhere"));
    ck_assert_ptr_eq(position_find("none"), &position_none);
}
END_TEST

START_TEST(a_position_may_require_a_head_width) {
    const struct position even = {.head_width_multiple = 2};
    ck_assert(position_fits(&even, 4) && !position_fits(&even, 5));
    ck_assert(position_fits(&position_learned, 5) && position_fits(NULL, 5));
}
END_TEST

enum { STEPS = 7, WIDTH = 4, COUNT = 2 };

/* Padding at the end, and in between. */
static const uint8_t present[COUNT * STEPS] = {1, 1, 1, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0};

static const struct layer_type *const types[] = {&layer_pooled_attention, &layer_tiled_attention,
                                                 &layer_multi_head_attention,
                                                 &layer_torch_multi_head_attention, &layer_encoder_block};

static struct layer make(const struct layer_type *type, size_t steps, const struct position *position,
                         bool skips_padding) {
    struct layer_options options = {.heads = 2,
                                    .mask = ATTENTION_MASK_CAUSAL,
                                    .position = position,
                                    .feedforward_width = 3,
                                    .activation = ACTIVATION_GELU,
                                    .skips_padding = skips_padding};
    return layer_make(type, "", (struct layer_shape){steps, WIDTH}, 0, &options);
}

START_TEST(rotated_gradients_agree_with_differences) {
    layer_check_gradients(make(types[_i / 2], STEPS, &turning_position, false), COUNT, NULL,
                          _i % 2 == 0 ? NULL : present, 3);
}
END_TEST

static struct layer_run run_layer(struct layer layer, size_t steps_drawn, const uint8_t *is_present) {
    struct layer_run run = layer_run_start(layer, 1);
    struct torch_generator generator;
    torch_generator_seed(&generator, 4);
    torch_normal(&generator, run.parameters, layer.parameter_count, 0, 0.7);
    torch_normal(&generator, run.input, steps_drawn * WIDTH, 0, 1);
    torch_normal(&generator, run.grad_output, run.output_count, 0, 1);
    run.pass.present = is_present;
    layer_run_forward(&run);
    return run;
}

START_TEST(rotation_changes_the_output) {
    struct layer_run still = run_layer(make(types[_i], STEPS, NULL, false), STEPS, NULL);
    struct layer_run turned = run_layer(make(types[_i], STEPS, &turning_position, false), STEPS, NULL);
    float largest = 0;
    for (size_t i = 0; i < still.output_count; i++)
        largest = fmaxf(largest, fabsf(still.output[i] - turned.output[i]));
    ck_assert(largest > 1e-3F);
    layer_run_end(&still);
    layer_run_end(&turned);
}
END_TEST

/* If a block leaves out the padding between steps, the steps still rotate by their original positions. */
START_TEST(a_block_that_skips_padding_rotates_by_original_positions) {
    struct layer_run runs[2];
    for (size_t i = 0; i < 2; i++)
        runs[i] =
            run_layer(make(&layer_encoder_block, STEPS, &turning_position, i == 1), STEPS, present + STEPS);
    for (size_t t = 0; t < STEPS; t++)
        if (present[STEPS + t] != 0)
            layer_check_equal("output", runs[1].output + t * WIDTH, runs[0].output + t * WIDTH, WIDTH, 1e-6);
    layer_run_end(&runs[0]);
    layer_run_end(&runs[1]);
}
END_TEST

/* A model with a rotating position uses layers that can rotate, also over numbers. */
START_TEST(models_choose_layers_that_rotate) {
    struct model_options options = {
        .steps = 6, .class_count = 2, .width = 4, .heads = 2, .layers = 1, .position = &turning_position};
    options.feedforward_width = 3;
    struct model model = model_build(model_find("attention"), &options);
    ck_assert_uint_eq(model.layer_count, 3);
    ck_assert_ptr_eq(model.layers[1].type, &layer_pooled_attention);
    ck_assert_ptr_eq(model.layers[1].options.position, &turning_position);
    options.steps = TILED_ATTENTION_STEPS;
    model = model_build(model_find("attention"), &options);
    ck_assert_ptr_eq(model.layers[1].type, &layer_tiled_attention);
    struct model with = model_build(model_find("transformer"), &options);
    options.position = &position_none;
    struct model without = model_build(model_find("transformer"), &options);
    ck_assert_uint_eq(with.parameter_count, without.parameter_count);
    ck_assert_ptr_eq(with.layers[1].type, without.layers[1].type);
    ck_assert_ptr_eq(with.layers[2].options.position, &turning_position);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_test(tests, every_position_is_found_by_its_name);
    tcase_add_test(tests, a_position_may_require_a_head_width);
    tcase_add_loop_test(tests, rotated_gradients_agree_with_differences, 0,
                        2 * (int)(sizeof types / sizeof *types));
    tcase_add_loop_test(tests, rotation_changes_the_output, 0, (int)(sizeof types / sizeof *types));
    tcase_add_test(tests, a_block_that_skips_padding_rotates_by_original_positions);
    tcase_add_test(tests, models_choose_layers_that_rotate);
}
