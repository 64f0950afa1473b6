/* Attention over numbers in one layer: against the general layers that it replaces, against differences, and
 * its kernels against the reference. */
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/scalar.h"
#include "core/layers/linear.h"
#include "core/layers/positions/learned.h"
#include "core/layers/positions/position.h"
#include "core/math/matrix.h"
#include "core/math/shared_scores.h"
#include "core/model/models.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/core/math/reference_kernels.h"
#include "tests/unit/main.h"

enum { COUNT = 5, STEPS = 13, WIDTH = 12, STRIDE = 16 };

/* The reference, and the tables that this processor runs. */
enum { TABLES = 1 + KERNELS_LISTED };
static const struct kernels *tables[TABLES];
static size_t table_count;

static void choose_tables(void) {
    tables[0] = &kernels_reference;
    table_count = 1 + kernels_list(tables + 1);
}

static void draw(float *values, size_t count, float mean, float deviation, uint64_t seed) {
    struct torch_generator generator;
    torch_generator_seed(&generator, seed);
    torch_normal(&generator, values, count, (double)mean, (double)deviation);
}

/* --- the layer against the general ones --- */

struct comparison {
    bool has_positions, is_masked, is_padded;
    float deviation; /* of the parameters: 1.5 saturates the softmax */
};

static const struct comparison comparisons[] = {
    {false, false, false, 0.3F}, {true, false, false, 0.3F}, {true, true, false, 0.3F},
    {false, false, true, 0.3F},  {true, false, true, 0.3F},  {true, true, true, 0.3F},
    {false, false, false, 1.5F}, {true, false, false, 1.5F},
};

static struct model general_model(const struct comparison *comparison) {
    struct model model = {.input = {STEPS, 1}};
    struct layer_options options = {.mask =
                                        comparison->is_masked ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE};
    model_add_layer(&model, &layer_linear, "inp", WIDTH, NULL);
    if (comparison->has_positions)
        model_add_layer(&model, &layer_learned_positions, "", 0, NULL);
    model_add_layer(&model, &layer_pooled_attention, "", 0, &options);
    return model;
}

static struct model scalar_model(const struct comparison *comparison) {
    struct model model = {.input = {STEPS, 1}};
    struct layer_options options = {
        .position = comparison->has_positions ? &position_learned : &position_none,
        .mask = comparison->is_masked ? ATTENTION_MASK_CAUSAL : ATTENTION_MASK_NONE};
    model_add_layer(&model, comparison->has_positions ? &layer_scalar_attention : &layer_unplaced_attention,
                    "", WIDTH, &options);
    return model;
}

/* A model's results for a batch. */
struct outcome {
    float output[COUNT * WIDTH], grad_input[COUNT * STEPS], attention[COUNT * STEPS * STEPS];
    float gradient[2048];
};

static void run(const struct model *model, const struct comparison *comparison, const float *parameters,
                const struct kernels *kernels, struct outcome *outcome) {
    static const uint8_t lengths[COUNT] = {STEPS, 1, 6, 0, 8};
    float values[COUNT * STEPS], weights[COUNT * WIDTH];
    uint8_t present[COUNT * STEPS];
    struct arena measure = arena_measuring(), arena;
    struct model_workspace workspace;
    model_workspace_layout(&workspace, model, COUNT, true, &measure);
    ck_assert(arena_init(&arena, measure.used, NULL));
    model_workspace_layout(&workspace, model, COUNT, true, &arena);
    draw(values, COUNT * STEPS, 0, 1, 11);
    draw(weights, COUNT * WIDTH, 0, 1, 12);
    for (size_t i = 0; i < COUNT * STEPS; i++)
        present[i] = i % STEPS < lengths[i / STEPS];
    struct model_batch batch = {
        .count = COUNT, .values = values, .present = comparison->is_padded ? present : NULL};
    memset(outcome, 0, sizeof *outcome);
    const float *output = model_forward(model, parameters, &workspace, &batch, kernels);
    memcpy(outcome->output, output, sizeof outcome->output);
    model_attention(model, parameters, &workspace, &batch, 0, outcome->attention, kernels);
    if (model_computes_attention_rows(model)) {
        enum { FIRST = 2, QUERIES = 3 };
        float window[COUNT * QUERIES * STEPS];
        model_attention_rows(model, parameters, &workspace, &batch, 0, FIRST, QUERIES, window, kernels);
        for (size_t i = 0; i < COUNT; i++)
            ck_assert_mem_eq(window + i * QUERIES * STEPS, outcome->attention + (i * STEPS + FIRST) * STEPS,
                             QUERIES * STEPS * sizeof *window);
    }
    model_backward(model, parameters, &workspace, &batch, weights, outcome->grad_input, outcome->gradient,
                   kernels);
    arena_free(&arena);
}

/* Relative to the largest of all values. */
static void check_close(const char *what, const float *got, const float *expected, size_t count,
                        double tolerance) {
    double largest = 0, difference = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)expected[i]));
        double distance = fabs((double)got[i] - (double)expected[i]);
        ck_assert_msg(isfinite(distance), "%s[%zu] is not finite", what, i);
        difference = fmax(difference, distance);
    }
    ck_assert_msg(difference <= tolerance * largest, "%s: differs by %g of %g", what, difference, largest);
}

/* In exact arithmetic the key bias has no gradient; the computed one is only rounding. */
static void check_gradients(const struct model *model, const float *got, const float *expected,
                            double tolerance) {
    struct tensor tensors[MODEL_MAXIMUM_TENSORS];
    size_t count = model_tensors(model, tensors);
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, "k.bias") != 0)
            check_close(tensors[i].name, got + tensors[i].offset, expected + tensors[i].offset,
                        tensor_element_count(&tensors[i]), tolerance);
}

START_TEST(scalar_attention_matches_the_general_layers) {
    static struct outcome expected, got;
    const struct comparison *comparison = &comparisons[_i];
    struct model general = general_model(comparison), scalar = scalar_model(comparison);
    float parameters[2048];
    ck_assert_uint_eq(general.parameter_count, scalar.parameter_count);
    ck_assert_uint_le(general.parameter_count, sizeof parameters / sizeof *parameters);
    draw(parameters, general.parameter_count, 0, comparison->deviation, 13);
    run(&general, comparison, parameters, &kernels_reference, &expected);
    /* Both round large scores more coarsely. */
    double tolerance = comparison->deviation > 1 ? 2e-3 : 1e-5;
    for (size_t i = 0; i < table_count; i++) {
        run(&scalar, comparison, parameters, tables[i], &got);
        check_close("output", got.output, expected.output, COUNT * WIDTH, tolerance / 5);
        check_close("attention", got.attention, expected.attention, COUNT * STEPS * STEPS, tolerance);
        check_close("grad_input", got.grad_input, expected.grad_input, COUNT * STEPS, tolerance);
        check_gradients(&scalar, got.gradient, expected.gradient, tolerance);
    }
}
END_TEST

START_TEST(tensors_and_draws_match_the_general_layers) {
    struct model general = general_model(&comparisons[_i]), scalar = scalar_model(&comparisons[_i]);
    struct tensor expected[MODEL_MAXIMUM_TENSORS], got[MODEL_MAXIMUM_TENSORS];
    size_t count = model_tensors(&general, expected);
    ck_assert_uint_eq(model_tensors(&scalar, got), count);
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(got[i].name, expected[i].name);
        ck_assert_uint_eq(got[i].offset, expected[i].offset);
        ck_assert_mem_eq(got[i].shape, expected[i].shape, sizeof got[i].shape);
    }
    float drawn[2][2048];
    struct torch_generator generator;
    torch_generator_seed(&generator, 7);
    model_initialise(&general, drawn[0], &generator, NULL);
    torch_generator_seed(&generator, 7);
    model_initialise(&scalar, drawn[1], &generator, NULL);
    ck_assert_mem_eq(drawn[0], drawn[1], general.parameter_count * sizeof(float));
}
END_TEST

START_TEST(gradients_agree_with_differences) {
    static const uint8_t present[] = {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0};
    struct layer_options options = {.position = _i < 2 ? &position_none : &position_learned,
                                    .mask = _i < 4 ? ATTENTION_MASK_NONE : ATTENTION_MASK_CAUSAL};
    const struct layer_type *type = _i < 2 ? &layer_unplaced_attention : &layer_scalar_attention;
    struct layer layer = layer_make(type, "", (struct layer_shape){5, 1}, 4, &options);
    layer_check_gradients(layer, 3, NULL, _i % 2 == 0 ? NULL : present, 5);
}
END_TEST

START_TEST(models_use_it_if_steps_are_numbers) {
    static const struct {
        const struct position *position;
        enum attention_mask mask;
        size_t vocabulary_size;
        const struct layer_type *expected; /* NULL: the general layers */
    } cases[] = {
        {&position_learned, ATTENTION_MASK_NONE, 0, &layer_scalar_attention},
        {&position_learned, ATTENTION_MASK_CAUSAL, 0, &layer_scalar_attention},
        {&position_none, ATTENTION_MASK_NONE, 0, &layer_unplaced_attention},
        {&position_none, ATTENTION_MASK_CAUSAL, 0, &layer_scalar_attention},
        {&position_sinusoidal, ATTENTION_MASK_NONE, 0, &layer_scalar_attention},
        {&position_learned, ATTENTION_MASK_NONE, 50, NULL},
    };
    struct model_options options = {.steps = 6,
                                    .class_count = 2,
                                    .width = 4,
                                    .position = cases[_i].position,
                                    .mask = cases[_i].mask,
                                    .vocabulary_size = cases[_i].vocabulary_size};
    struct model model = model_build(model_find("attention"), &options);
    bool is_scalar =
        model.layers[0].type == &layer_scalar_attention || model.layers[0].type == &layer_unplaced_attention;
    ck_assert(cases[_i].expected == NULL ? !is_scalar : model.layers[0].type == cases[_i].expected);
}
END_TEST

/* --- the kernels --- */

struct score_data {
    float fixed[STEPS * STRIDE], row[STEPS], column[STRIDE], x[STRIDE];
    uint8_t present[STEPS];
    struct shared_scores scores;
};

/* Row 2 sees no key, row 3 sees one. */
static void make_scores(struct score_data *data, float size) {
    memset(data, 0, sizeof *data);
    draw(data->fixed, STEPS * STRIDE, 0, size, 21);
    draw(data->column, STEPS, 0, size, 22);
    draw(data->x, STEPS, 0, 1, 23);
    draw(data->row, STEPS, 0, size, 24);
    for (size_t i = 0; i < STEPS; i++)
        for (size_t j = 0; j < STRIDE; j++)
            if (j >= STEPS || i == 2 || (i == 3 && j != 4))
                data->fixed[i * STRIDE + j] = -INFINITY;
    for (size_t i = 0; i < STEPS; i++)
        data->present[i] = i != 2;
    data->scores = (struct shared_scores){.steps = STEPS,
                                          .stride = STRIDE,
                                          .square = size / 2,
                                          .row = data->row,
                                          .column = data->column,
                                          .fixed = data->fixed,
                                          .present = data->present};
}

/* The definition, in double. */
static double expected_weight(const struct score_data *data, size_t i, size_t j) {
    double sum = 0, terms[STEPS], largest = -INFINITY;
    for (size_t k = 0; k < STEPS; k++) {
        terms[k] = (double)data->scores.square * (double)data->x[i] * (double)data->x[k] +
                   (double)data->x[i] * (double)data->column[k] + (double)data->row[i] * (double)data->x[k] +
                   (double)data->fixed[i * STRIDE + k];
        largest = fmax(largest, terms[k]);
    }
    if (isinf(largest))
        return 0;
    for (size_t k = 0; k < STEPS; k++)
        sum += exp2(terms[k] - largest);
    return exp2(terms[j] - largest) / sum;
}

START_TEST(weights_are_softmax_of_the_scores) {
    static const float sizes[] = {1, 10, 300};
    struct score_data data;
    float exponentials[STEPS * STRIDE], inverse_sums[STEPS], share[STRIDE];
    make_scores(&data, sizes[_i]);
    for (size_t table = 0; table < table_count; table++) {
        tables[table]->shared_scores_forward(&data.scores, data.x, exponentials, inverse_sums, share);
        for (size_t j = 0; j < STEPS; j++) {
            double sum = 0;
            for (size_t i = 0; i < STEPS; i++) {
                double expected = expected_weight(&data, i, j);
                double got = (double)exponentials[i * STRIDE + j] * (double)inverse_sums[i];
                ck_assert_double_le(fabs(got - expected), 5e-7 * (double)sizes[_i]);
                sum += expected;
            }
            ck_assert_double_le(fabs((double)share[j] - sum), 2e-6 * (double)sizes[_i]);
        }
    }
}
END_TEST

/* Even if scores are too large for float32 to distinguish, each row must still be a softmax. */
START_TEST(weights_of_large_scores_sum_to_one) {
    static const float sizes[] = {1e4F, 1e6F, 1e9F, 1e12F};
    struct score_data data;
    float exponentials[STEPS * STRIDE], inverse_sums[STEPS], share[STRIDE];
    make_scores(&data, sizes[_i]);
    for (size_t j = 0; j < STEPS; j++)
        data.x[j] *= sizes[_i];
    for (size_t table = 0; table < table_count; table++) {
        tables[table]->shared_scores_forward(&data.scores, data.x, exponentials, inverse_sums, share);
        for (size_t i = 0; i < STEPS; i++) {
            double sum = 0;
            for (size_t j = 0; j < STRIDE; j++)
                sum += (double)exponentials[i * STRIDE + j] * (double)inverse_sums[i];
            ck_assert_double_le(fabs(sum - (i == 2 ? 0 : 1)), 1e-6);
        }
    }
}
END_TEST

START_TEST(every_set_equals_the_reference) {
    struct score_data data;
    float exponentials[STEPS * STRIDE], inverse_sums[STEPS], share[STRIDE], grad_share[STRIDE] = {0};
    float square[TABLES], fixed[TABLES][STEPS * STRIDE], column[TABLES][STRIDE], row[TABLES][STEPS],
        means[TABLES][STEPS], variances[TABLES][STEPS];
    make_scores(&data, 2);
    draw(grad_share, STEPS, 0, 1, 31);
    kernels_reference.shared_scores_forward(&data.scores, data.x, exponentials, inverse_sums, share);
    /* The same weights with all scores far below their bounds, so that the square of an inverse overflows. */
    for (size_t i = 0; _i == 1 && i < STEPS; i++) {
        inverse_sums[i] *= 0x1p64F;
        for (size_t j = 0; j < STRIDE; j++)
            exponentials[i * STRIDE + j] *= 0x1p-64F;
    }
    for (size_t i = 0; i < table_count; i++) {
        draw(fixed[i], STEPS * STRIDE, 0, 1, 32);
        draw(column[i], STRIDE, 0, 1, 33);
        draw(row[i], STEPS, 0, 1, 34);
        struct shared_scores_gradient gradient = {0.5F, row[i], column[i], fixed[i]};
        tables[i]->shared_scores_backward(&data.scores, data.x, exponentials, inverse_sums, grad_share,
                                          &gradient);
        square[i] = gradient.square;
        tables[i]->tilted_moments(data.x, STEPS, data.row, STEPS, means[i], variances[i]);
    }
    for (size_t i = 1; i < table_count; i++) {
        check_close("fixed", fixed[i], fixed[0], STEPS * STRIDE, 1e-6);
        check_close("column", column[i], column[0], STRIDE, 1e-6);
        check_close("row", row[i], row[0], STEPS, 1e-6);
        check_close("square", &square[i], &square[0], 1, 1e-6);
        check_close("means", means[i], means[0], STEPS, 1e-6);
        check_close("variances", variances[i], variances[0], STEPS, 2e-6);
    }
}
END_TEST

START_TEST(tilted_moments_match_the_weights) {
    static const float tilts[] = {0, 1, -1, 0.01F, 20, -300, 4, 5, -6};
    enum { TILTS = sizeof tilts / sizeof *tilts };
    float x[STEPS], means[TILTS], variances[TILTS];
    draw(x, STEPS, 0, 1, 41);
    for (size_t table = 0; table < table_count; table++) {
        tables[table]->tilted_moments(x, STEPS, tilts, TILTS, means, variances);
        for (size_t i = 0; i < TILTS; i++) {
            double sum = 0, mean = 0, variance = 0, shift = tilts[i] > 0 ? 3 : -3;
            for (size_t pass = 0; pass < 2; pass++)
                for (size_t j = 0; j < STEPS; j++) {
                    double weight = exp2((double)tilts[i] * ((double)x[j] - shift));
                    sum += pass == 0 ? weight : 0;
                    mean += pass == 0 ? weight * (double)x[j] : 0;
                    variance += pass == 0 ? 0 : weight * pow((double)x[j] - mean / sum, 2);
                }
            ck_assert_double_le(fabs((double)means[i] - mean / sum), 3e-6);
            ck_assert_double_le(fabs((double)variances[i] - variance / sum), 3e-6);
        }
    }
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    choose_tables();
    int comparison_count = sizeof comparisons / sizeof *comparisons;
    tcase_add_loop_test(tests, scalar_attention_matches_the_general_layers, 0, comparison_count);
    tcase_add_loop_test(tests, tensors_and_draws_match_the_general_layers, 0, 2);
    tcase_add_loop_test(tests, gradients_agree_with_differences, 0, 6);
    tcase_add_loop_test(tests, models_use_it_if_steps_are_numbers, 0, 6);
    tcase_add_loop_test(tests, weights_are_softmax_of_the_scores, 0, 3);
    tcase_add_loop_test(tests, weights_of_large_scores_sum_to_one, 0, 4);
    tcase_add_loop_test(tests, every_set_equals_the_reference, 0, 2);
    tcase_add_test(tests, tilted_moments_match_the_weights);
}
