/* Tiled attention: its kernels against the plain ones, the layer against the one that keeps its matrix and
 * against finite differences, and how much memory it takes. */
#include "core/layers/pooled_attention.h"
#include "core/layers/tiled_attention.h"
#include "core/math/arena.h"
#include "core/math/tile_kernels.h"
#include "core/model/models.h"
#include "tests/unit/layer_check.h"

#include <sys/resource.h>

static const struct kernels *chosen;

enum { ROWS = 5, STRIDE = 80 };
static float drawn[ROWS * STRIDE], gradient[ROWS * STRIDE];

static void draw(float *values, size_t count, uint64_t seed, double deviation) {
    struct torch_generator generator;
    torch_generator_seed(&generator, seed);
    torch_normal(&generator, values, count, 0, deviation);
}

/* Two tiles one after the other, then back. The first row's first tile is all hidden, the second row sees
 * nothing at all. */
static void run_tiles(const struct kernels *kernels, size_t columns, float (*values)[ROWS * STRIDE],
                      float *numbers) {
    float largest[ROWS], sums[ROWS] = {0}, normaliser[ROWS], means[ROWS] = {0};
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
        normaliser[i] = sums[i] > 0 ? largest[i] + logf(sums[i]) : INFINITY;
    struct tile again = {values[2], ROWS, columns, STRIDE, 0.7F},
                back = {values[3], ROWS, columns, STRIDE, 0.7F};
    kernels->tile_weights(&again, normaliser);
    kernels->tile_weights_and_means(&back, normaliser, gradient, means);
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
    run_tiles(&kernels_plain, columns, plain, plain_numbers);
    run_tiles(chosen, columns, fast, fast_numbers);
    for (size_t t = 0; t < 4; t++)
        layer_check_equal("tile", fast[t], plain[t], ROWS * STRIDE, 3e-6);
    layer_check_equal("sums and means", fast_numbers, plain_numbers, 2 * ROWS, 3e-6);
    ck_assert(plain_numbers[0] > 0 && plain_numbers[1] == 0 && plain[2][STRIDE] == 0);
}
END_TEST

enum { CAUSAL = 1, PADDING = 2, COUNT = 2 };

static uint8_t present[COUNT * 800];

static struct layer make(const struct layer_type *type, size_t steps, size_t width, int flags) {
    struct layer_options options = {.heads = 1,
                                    .mask = flags & CAUSAL ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE};
    return layer_make(type, "", (struct layer_shape){steps, width}, 0, &options);
}

/* The first example has padding at the end and in between, the second nothing else. */
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

START_TEST(agrees_with_the_layer_that_keeps_its_matrix) {
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

static struct model_options long_options(size_t steps, enum attention_storage storage) {
    return (struct model_options){.steps = steps, .class_count = 2, .width = 32, .storage = storage};
}

/* The same tensors, drawn alike, and the same answer as the model for shorter sequences. */
START_TEST(models_agree_at_the_length_where_they_change) {
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
        model_initialise(&model, parameters[i], &generator);
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

int main(void) {
    chosen = kernels_choose();
    Suite *suite = suite_create("tiled attention");
    TCase *tiled = tcase_create("tiled");
    tcase_set_timeout(tiled, 120);
    tcase_add_loop_test(tiled, tile_kernels_agree, 1, STRIDE);
    tcase_add_loop_test(tiled, agrees_with_the_layer_that_keeps_its_matrix, 0,
                        4 * (int)(sizeof lengths / sizeof *lengths));
    tcase_add_loop_test(tiled, gradients_agree_with_differences, 0, 4);
    tcase_add_test(tiled, models_agree_at_the_length_where_they_change);
    tcase_add_test(tiled, memory_grows_with_the_length);
    suite_add_tcase(suite, tiled);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
