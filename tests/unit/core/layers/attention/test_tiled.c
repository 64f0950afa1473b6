/* Tiled attention: its kernels against the plain ones, the layer against the one that keeps its matrix and
 * against finite differences, and its use of memory. */
#include "core/layers/attention/attention.h"
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/tiled.h"
#include "core/layers/attention/tiled_head.h"
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/positions/position.h"
#include "core/math/arena.h"
#include "core/math/matrix.h"
#include "core/math/tile_kernels.h"
#include "core/model/models.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/core/math/reference_kernels.h"
#include "tests/unit/main.h"

#include <sys/resource.h>

static const struct kernels *chosen;

enum { ROWS = 5, STRIDE = 80 };
static float drawn[ROWS * STRIDE], gradient[ROWS * STRIDE];

static void draw(float *values, size_t count, uint64_t seed, double deviation) {
    struct torch_generator generator;
    torch_generator_seed(&generator, seed);
    torch_normal(&generator, values, count, 0, deviation);
}

/* Runs two tiles one after the other, then backward. The first row's first tile is hidden completely, and the
 * second row sees nothing at all. */
static void run_tiles(const struct kernels *kernels, size_t columns, float (*values)[ROWS * STRIDE],
                      float *numbers) {
    float largest[ROWS], sums[ROWS] = {0}, inverse_sums[ROWS], means[ROWS] = {0};
    for (size_t i = 0; i < ROWS; i++)
        largest[i] = -INFINITY;
    for (size_t t = 0; t < 4; t++) {
        memcpy(values[t], drawn, sizeof drawn);
        for (size_t j = 0; j < columns; j++) {
            values[t][STRIDE + j] = -INFINITY;
            values[t][j] = t % 2 == 0 ? -INFINITY : values[t][j] + 3;
        }
    }
    for (size_t t = 0; t < 2; t++) {
        struct tile tile = {values[t], ROWS, columns, STRIDE, 0.7F};
        kernels->tile_softmax(&tile, largest, sums);
    }
    for (size_t i = 0; i < ROWS; i++)
        inverse_sums[i] = sums[i] > 0 ? 1 / sums[i] : 0;
    struct row_softmax rows = {largest, inverse_sums};
    struct tile again = {values[2], ROWS, columns, STRIDE, 0.7F},
                back = {values[3], ROWS, columns, STRIDE, 0.7F};
    kernels->tile_weights(&again, &rows);
    kernels->tile_weights_and_means(&back, &rows, gradient, STRIDE, means);
    kernels->tile_backward(&back, gradient, STRIDE, means);
    memcpy(numbers, sums, sizeof sums);
    memcpy(numbers + ROWS, means, sizeof means);
}

START_TEST(tile_kernels_agree) {
    static float plain[4][ROWS * STRIDE], fast[4][ROWS * STRIDE];
    float plain_numbers[2 * ROWS], fast_numbers[2 * ROWS];
    const size_t columns = (size_t)_i;
    draw(drawn, ROWS * STRIDE, 1, 3);
    draw(gradient, ROWS * STRIDE, 2, 1);
    run_tiles(&kernels_reference, columns, plain, plain_numbers);
    const struct kernels *tables[KERNELS_LISTED];
    for (size_t i = kernels_list(tables); i-- > 0;) {
        run_tiles(tables[i], columns, fast, fast_numbers);
        for (size_t t = 0; t < 4; t++)
            layer_check_equal("tile", fast[t], plain[t], ROWS * STRIDE, 3e-6);
        layer_check_equal("sums and means", fast_numbers, plain_numbers, 2 * ROWS, 3e-6);
    }
    ck_assert(plain_numbers[0] > 0 && plain_numbers[1] == 0 && plain[2][STRIDE] == 0);
}
END_TEST

/* A row is shifted by its own largest score, not by the filling of its tail. */
START_TEST(tiles_of_very_negative_scores) {
    const size_t columns = (size_t)_i;
    const struct kernels *tables[KERNELS_LISTED];
    for (size_t i = kernels_list(tables); i-- > 0;) {
        float largest = -INFINITY, sums = 0;
        double expected = 0;
        for (size_t j = 0; j < columns; j++) {
            drawn[j] = -2000 - 2 * (float)j;
            expected += exp(-(double)j);
        }
        struct tile tile = {drawn, 1, columns, STRIDE, 0.5F};
        tables[i]->tile_softmax(&tile, &largest, &sums);
        ck_assert(largest == -2000);
        ck_assert_double_le(fabs((double)sums - expected), 1e-6);
        ck_assert(drawn[0] == 1);
    }
}
END_TEST

enum { CAUSAL = 1, PADDING = 2, COUNT = 2 };

static uint8_t present[COUNT * 800];

static struct layer make(const struct layer_type *type, size_t steps, size_t width, int flags) {
    struct layer_options options = {.heads = 1,
                                    .mask = flags & CAUSAL ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE};
    return layer_make(type, "", (struct layer_shape){steps, width}, 0, &options);
}

/* The first example has padding at the end and in between. The second has only padding or none. */
static void fill_present(size_t steps, bool is_all_padding) {
    for (size_t t = 0; t < steps; t++) {
        present[t] = t < steps - steps / 4 && t % 7 != 3;
        present[steps + t] = !is_all_padding;
    }
}

static struct layer_run run_layer(const struct layer_type *type, size_t steps, int flags) {
    struct layer_run run = layer_run_start(make(type, steps, 16, flags), COUNT);
    run.pass.kernels = chosen;
    run.pass.present = flags & PADDING ? present : NULL;
    draw(run.parameters, run.layer.parameter_count, 3, 0.5);
    draw(run.input, run.input_count, 4, 1);
    draw(run.grad_output, run.output_count, 5, 1);
    layer_run_forward(&run);
    return run;
}

static const size_t lengths[] = {1, 23, 24, 25, 239, 241, 500, 800};

START_TEST(tiled_attention_agrees_with_the_layer_that_keeps_its_matrix) {
    const size_t steps = lengths[_i / 4];
    fill_present(steps, steps == 500);
    struct layer_run plain = run_layer(&layer_pooled_attention, steps, _i % 4);
    struct layer_run tiled = run_layer(&layer_tiled_attention, steps, _i % 4);
    layer_check_equal("output", tiled.output, plain.output, plain.output_count, 2e-6);

    float *whole = layer_check_floats(COUNT * steps * steps), *some = layer_check_floats(COUNT * 7 * steps);
    plain.layer.type->attention(&plain.layer, plain.parameters, plain.input, plain.saved, whole, &plain.pass);
    size_t queries = steps < 7 ? steps : 7, first = steps - queries;
    tiled.layer.type->attention_rows(&tiled.layer, tiled.parameters, tiled.input, tiled.saved, first, queries,
                                     some, &tiled.pass);
    for (size_t i = 0; i < COUNT; i++)
        layer_check_equal("weights", some + i * queries * steps, whole + (i * steps + first) * steps,
                          queries * steps, 2e-6);
    free(whole);
    free(some);

    layer_run_backward(&plain);
    layer_run_backward(&tiled);
    layer_check_equal("grad_input", tiled.grad_input, plain.grad_input, plain.input_count, 5e-6);
    layer_check_equal("grad_parameters", tiled.grad_parameters, plain.grad_parameters,
                      plain.layer.parameter_count, 2e-5);
    layer_run_end(&plain);
    layer_run_end(&tiled);
}
END_TEST

START_TEST(gradients_agree_with_differences) {
    fill_present(26, false);
    layer_check_gradients(make(&layer_tiled_attention, 26, 4, _i), COUNT, NULL, _i & PADDING ? present : NULL,
                          7);
}
END_TEST

enum { HEAD_WIDTH = 5, ROW = 12 };

/* Computes context and the gradients of query, key and value, [steps][ROW] each, by the formulas in double.
 */
static void attend_by_formula(const struct attention_head *head, const uint8_t *keys_present,
                              const float *grad_context, double (*out)[800 * ROW]) {
    static double w[800];
    memset(out, 0, 4 * sizeof *out);
    for (size_t i = 0; i < head->steps; i++) {
        size_t keys = head->is_causal ? i + 1 : head->steps;
        double sum = 0, mean = 0;
        for (size_t j = 0; j < keys; j++) {
            double score = 0;
            for (size_t k = 0; k < HEAD_WIDTH; k++)
                score += (double)head->query[i * ROW + k] * (double)head->key[j * ROW + k];
            w[j] = keys_present != NULL && !keys_present[j] ? 0 : exp((double)head->scale * score);
            sum += w[j];
        }
        for (size_t j = 0; j < keys; j++) {
            w[j] = sum > 0 ? w[j] / sum : 0;
            for (size_t k = 0; k < HEAD_WIDTH; k++) {
                out[0][i * ROW + k] += w[j] * (double)head->value[j * ROW + k];
                out[3][j * ROW + k] += w[j] * (double)grad_context[i * ROW + k];
                mean += w[j] * (double)grad_context[i * ROW + k] * (double)head->value[j * ROW + k];
            }
        }
        for (size_t j = 0; j < keys; j++) {
            double g = 0;
            for (size_t k = 0; k < HEAD_WIDTH; k++)
                g += (double)grad_context[i * ROW + k] * (double)head->value[j * ROW + k];
            double grad_score = (double)head->scale * w[j] * (g - mean);
            for (size_t k = 0; k < HEAD_WIDTH; k++) {
                out[1][i * ROW + k] += grad_score * (double)head->key[j * ROW + k];
                out[2][j * ROW + k] += grad_score * (double)head->query[i * ROW + k];
            }
        }
    }
}

START_TEST(tiled_heads_follow_the_formulas) {
    static float in[4][800 * ROW], got[4][800 * ROW], sums[2 * 800], weights[3 * 800];
    static double expected[4][800 * ROW];
    const size_t steps = lengths[_i / 4];
    const struct kernels *kernels = _i % 3 == 0 ? &kernels_plain : chosen;
    fill_present(steps, false);
    for (size_t i = 0; i < 4; i++)
        draw(in[i], steps * ROW, 20 + i, 1);
    struct attention_head head = {.steps = steps,
                                  .width = HEAD_WIDTH,
                                  .row = ROW,
                                  .scale = 0.8F,
                                  .is_causal = _i & CAUSAL,
                                  .query = in[0],
                                  .key = in[1],
                                  .value = in[2]};
    struct tiled_head tiled = {&head, _i & PADDING ? present : NULL, kernels,
                               layer_check_floats(tiled_head_scratch_size(steps, HEAD_WIDTH))};
    memset(got, 0, sizeof got);
    struct row_softmax rows = {sums, sums + 800};
    attend_by_formula(&head, tiled.present, in[3], expected);
    tiled_head_forward(&tiled, &rows, got[0]);
    struct attention_head_gradients gradients = {in[3], got[1], got[2], got[3], NULL};
    tiled_head_backward(&tiled, &rows, &gradients);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < steps * ROW; j++)
            if (!(fabs((double)got[i][j] - expected[i][j]) <= 1e-5 * (1 + fabs(expected[i][j]))))
                ck_abort_msg("part %zu [%zu]: %g, not %g", i, j, (double)got[i][j], expected[i][j]);
    size_t queries = steps < 3 ? steps : 3;
    tiled_head_weights(&tiled, &rows, steps - queries, queries, weights);
    for (size_t i = 0; i < queries; i++) {
        double sum = 0, first = 0;
        for (size_t j = 0; j < steps; j++) {
            sum += (double)weights[i * steps + j];
            first += (double)weights[i * steps + j] * (double)in[2][j * ROW];
        }
        ck_assert(fabs(sum - 1) <= 1e-5);
        ck_assert(fabs(first - expected[0][(steps - queries + i) * ROW]) <= 1e-5);
    }
    free(tiled.scratch);
}
END_TEST

/* A block that skips the padding of a long example must equal a block over a shorter example without padding.
 */
START_TEST(a_long_block_skips_padding) {
    enum { LONG = TILED_ATTENTION_STEPS, WIDE = 8 };
    struct layer_options options = {.heads = 2, .feedforward_width = 8, .skips_padding = true};
    static uint8_t some[LONG];
    struct layer_run runs[2];
    for (size_t i = 0; i < 2; i++) {
        struct layer_shape shape = {i == 0 ? LONG : 300, WIDE};
        runs[i] = layer_run_start(layer_make(&layer_encoder_block, "", shape, WIDE, &options), 1);
        runs[i].pass.kernels = chosen;
        draw(runs[i].parameters, runs[i].layer.parameter_count, 30, 0.5);
        draw(runs[i].input, 300 * WIDE, 31, 1);
        draw(runs[i].grad_output, 300 * WIDE, 32, 1);
    }
    memset(some, 1, 300);
    runs[0].pass.present = some;
    for (size_t i = 0; i < 2; i++) {
        layer_run_forward(&runs[i]);
        layer_run_backward(&runs[i]);
    }
    layer_check_equal("output", runs[0].output, runs[1].output, 300 * WIDE, 5e-6);
    layer_check_equal("grad_input", runs[0].grad_input, runs[1].grad_input, 300 * WIDE, 2e-5);
    layer_check_equal("grad_parameters", runs[0].grad_parameters, runs[1].grad_parameters,
                      runs[0].layer.parameter_count, 1e-4);
    ck_assert(runs[0].output[300 * WIDE] == 0 && runs[0].grad_input[300 * WIDE] == 0);
    static float whole[2 * 300 * 300], window[2 * 3 * LONG];
    layer_run_forward(&runs[0]);
    layer_run_forward(&runs[1]);
    runs[1].layer.type->attention_rows(&runs[1].layer, runs[1].parameters, runs[1].input, runs[1].saved, 0,
                                       300, whole, &runs[1].pass);
    runs[0].layer.type->attention_rows(&runs[0].layer, runs[0].parameters, runs[0].input, runs[0].saved, 298,
                                       3, window, &runs[0].pass);
    for (size_t head = 0; head < 2; head++) {
        layer_check_equal("row", window + head * 3 * LONG, whole + (head * 300 + 298) * 300, 300, 2e-6);
        ck_assert(window[head * 3 * LONG + 300] == 0 && window[(head * 3 + 2) * LONG] == 0);
    }
    layer_run_end(&runs[0]);
    layer_run_end(&runs[1]);
}
END_TEST

static struct model_options long_options(size_t steps, enum attention_storage storage) {
    return (struct model_options){
        .steps = steps, .class_count = 2, .width = 32, .position = &position_learned, .storage = storage};
}

/* The model for long sequences has the same tensors with the same initial values as the model for shorter
 * ones, and gives the same answer. */
START_TEST(models_agree_at_the_length_where_tiling_begins) {
    enum { STEPS = TILED_ATTENTION_STEPS };
    static float parameters[2][40000], values[STEPS];
    float logits[2][2];
    draw(values, STEPS, 6, 1);
    for (size_t i = 0; i < 2; i++) {
        struct model_options options =
            long_options(STEPS, i == 0 ? ATTENTION_BY_LENGTH : ATTENTION_WITH_MATRIX);
        struct model model = model_build(model_find("attention"), &options);
        ck_assert(model_computes_attention_rows(&model) == (i == 0));
        struct model_workspace workspace;
        struct arena measuring = arena_measuring(), arena;
        struct torch_generator generator;
        struct error error = {0};
        model_workspace_layout(&workspace, &model, 1, false, &measuring);
        ck_assert(arena_init(&arena, measuring.used, &error));
        model_workspace_layout(&workspace, &model, 1, false, &arena);
        torch_generator_seed(&generator, 0);
        model_initialise(&model, parameters[i], &generator, NULL);
        struct model_batch batch = {.count = 1, .values = values};
        memcpy(logits[i], model_forward(&model, parameters[i], &workspace, &batch, chosen), sizeof logits[i]);
        arena_free(&arena);
    }
    ck_assert_mem_eq(parameters[0], parameters[1], sizeof parameters[0]);
    layer_check_equal("logits", logits[0], logits[1], 2, 2e-6);
    struct model_options shorter = long_options(STEPS - 1, ATTENTION_BY_LENGTH);
    struct model model = model_build(model_find("attention"), &shorter);
    ck_assert(!model_computes_attention_rows(&model));
}
END_TEST

static size_t workspace_bytes(size_t steps, enum attention_storage storage) {
    struct model_options options = long_options(steps, storage);
    struct model model = model_build(model_find("attention"), &options);
    struct model_workspace workspace;
    struct arena arena = arena_measuring();
    model_workspace_layout(&workspace, &model, 8, true, &arena);
    return arena.used;
}

START_TEST(memory_grows_with_the_length) {
    ck_assert(workspace_bytes(8192, ATTENTION_IN_TILES) <
              21 * workspace_bytes(4096, ATTENTION_IN_TILES) / 10);
    ck_assert(workspace_bytes(4096, ATTENTION_IN_TILES) < 60000000);
    ck_assert(workspace_bytes(4096, ATTENTION_WITH_MATRIX) > 537000000);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    chosen = kernels_choose();
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, tile_kernels_agree, 1, STRIDE);
    tcase_add_loop_test(tests, tiles_of_very_negative_scores, 1, STRIDE);
    tcase_add_loop_test(tests, tiled_attention_agrees_with_the_layer_that_keeps_its_matrix, 0,
                        4 * (int)(sizeof lengths / sizeof *lengths));
    tcase_add_loop_test(tests, gradients_agree_with_differences, 0, 4);
    tcase_add_loop_test(tests, tiled_heads_follow_the_formulas, 0,
                        4 * (int)(sizeof lengths / sizeof *lengths));
    tcase_add_test(tests, a_long_block_skips_padding);
    tcase_add_test(tests, models_agree_at_the_length_where_tiling_begins);
    tcase_add_test(tests, memory_grows_with_the_length);
}
