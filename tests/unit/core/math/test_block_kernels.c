/* The kernels of a transformer block: every set of lanes against the reference, at sizes that leave tails of
 * every length; and a block that skips padding against one that does not. */
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/masked_mean.h"
#include "core/math/attention_head.h"
#include "core/math/block_kernels.h"
#include "core/math/matrix.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/core/math/reference_kernels.h"
#include "tests/unit/main.h"

enum { LARGEST = 1 << 14, HEADS = 2 };

static const struct kernels *chosen;

/* Each test runs with every table. Chooses the table for `index`, and returns the test's own index. */
static size_t choose(int index) {
    const struct kernels *tables[KERNELS_LISTED];
    size_t count = kernels_list(tables);
    chosen = tables[(size_t)index % count];
    return (size_t)index / count;
}
static float drawn[6][LARGEST], plain[4][LARGEST], fast[4][LARGEST];

static void draw_all(void) {
    struct torch_generator generator;
    torch_generator_seed(&generator, 5);
    for (size_t i = 0; i < 6; i++)
        torch_normal(&generator, drawn[i], LARGEST, 0, 1);
    memset(plain, 0, sizeof plain);
    memset(fast, 0, sizeof fast);
}

START_TEST(layer_norms_agree) {
    const size_t width = choose(_i), count = 5;
    float plain_statistics[10], fast_statistics[10];
    draw_all();
    struct norm_rows rows = {count, width, drawn[0], drawn[1], drawn[2], plain_statistics};
    kernels_reference.layer_norm_forward(&rows, plain[0]);
    kernels_reference.layer_norm_backward(&rows, drawn[3], plain[1], plain[2], plain[3]);
    rows.statistics = fast_statistics;
    fast[0][count * width] = 7;
    chosen->layer_norm_forward(&rows, fast[0]);
    ck_assert(fast[0][count * width] == 7);
    chosen->layer_norm_backward(&rows, drawn[3], fast[1], fast[2], fast[3]);
    ck_assert_mem_eq(fast_statistics, plain_statistics, sizeof plain_statistics);
    ck_assert_mem_eq(fast[0], plain[0], count * width * sizeof(float));
    ck_assert_mem_eq(fast[2], plain[2], width * sizeof(float));
    ck_assert_mem_eq(fast[3], plain[3], width * sizeof(float));
    layer_check_equal("gradient", fast[1], plain[1], count * width, 1e-6);
    /* The weight's gradient must be the same whether or not the input's is requested, and vice versa. */
    memcpy(fast[0], drawn[3], sizeof fast[0]);
    chosen->layer_norm_backward(&rows, fast[0], fast[0], NULL, NULL);
    ck_assert_mem_eq(fast[0], fast[1], count * width * sizeof(float));
}
END_TEST

START_TEST(elementwise_kernels_agree) {
    const size_t count = choose(_i);
    draw_all();
    drawn[0][0] = NAN;
    drawn[0][count / 2] = -0.0F;
    kernels_reference.relu(drawn[0], plain[0], count);
    chosen->relu(drawn[0], fast[0], count);
    kernels_reference.relu_backward(drawn[0], drawn[1], plain[1], count);
    chosen->relu_backward(drawn[0], drawn[1], fast[1], count);
    memcpy(plain[2], drawn[1], sizeof plain[2]);
    memcpy(fast[2], drawn[1], sizeof fast[2]);
    kernels_reference.add_values(plain[2], drawn[2], count);
    chosen->add_values(fast[2], drawn[2], count);
    for (size_t i = 0; i < 3; i++)
        ck_assert_mem_eq(fast[i], plain[i], count * sizeof(float));
    ck_assert(fast[2][count] == drawn[1][count]);
}
END_TEST

/* Runs two heads of one example side by side: a kernel must not write outside its head's columns. */
static void run_heads(const struct kernels *kernels, struct attention_head *head, float (*out)[LARGEST]) {
    const size_t size = head->steps * head->row;
    float *context = out[0], *weights = out[1], *scores = out[3];
    struct attention_head_gradients gradients = {drawn[3], out[2], out[2] + size, out[2] + 2 * size, scores};
    for (size_t h = 0; h < HEADS; h++) {
        struct attention_head one = *head;
        size_t start = h * head->width;
        one.query += start;
        one.key += start;
        one.value += start;
        struct attention_head_gradients own = {gradients.context + start, gradients.query + start,
                                               gradients.key + start, gradients.value + start, scores};
        float *own_weights = weights + h * head->steps * head->stride;
        kernels->attention_head_forward(&one, own_weights, context + start);
        kernels->attention_head_backward(&one, own_weights, &own);
    }
}

static const size_t head_widths[] = {1, 3, 8, 12, 16, 31, 64};

START_TEST(attention_heads_agree) {
    const size_t steps = choose(_i);
    draw_all();
    for (size_t i = 0; i < sizeof head_widths / sizeof *head_widths; i++)
        for (int variant = 0; variant < 4; variant++) {
            memset(plain, 0, sizeof plain);
            memset(fast, 0, sizeof fast);
            float limits[ATTENTION_HEAD_MAXIMUM_STEPS] = {0};
            for (size_t j = 0; j < ATTENTION_HEAD_MAXIMUM_STEPS; j++) /* every query sees the first key */
                limits[j] = j % 2 == 0 ? INFINITY : -INFINITY;
            struct attention_head head = {.steps = steps,
                                          .width = head_widths[i],
                                          .row = HEADS * head_widths[i],
                                          .stride = (steps + 7) / 8 * 8,
                                          .scale = 0.4F,
                                          .is_causal = variant % 2 == 1,
                                          .limits = variant / 2 == 1 ? limits : NULL,
                                          .query = drawn[0],
                                          .key = drawn[1],
                                          .value = drawn[2]};
            run_heads(&kernels_reference, &head, plain);
            run_heads(chosen, &head, fast);
            size_t size = steps * head.row;
            layer_check_equal("context", fast[0], plain[0], size + 1, 2e-6);
            layer_check_equal("weights", fast[1], plain[1], HEADS * steps * head.stride, 2e-6);
            layer_check_equal("gradients", fast[2], plain[2], 3 * size + 1, 1e-5);
        }
}
END_TEST

/* A level sums 16 rows, the next level 16 of those sums, and so on: 4,100 rows need every level. */
START_TEST(column_sums_use_every_level) {
    static float matrix[4100 * 40];
    float sums[40], expected[40];
    const size_t columns = (size_t)_i, rows = 4100;
    for (size_t j = 0; j < columns; j++) {
        double sum = expected[j] = sums[j] = 0.5F;
        for (size_t i = 0; i < rows; i++) {
            float value = (i % 2 == 0 ? 1000.1F : -1000.1F) + 1e-3F * (float)((i * 7 + j) % 11);
            matrix[i * columns + j] = value;
            sum += (double)value;
        }
        expected[j] = (float)sum;
    }
    matrix_add_column_sums(matrix, rows, columns, sums);
    for (size_t j = 0; j < columns; j++)
        ck_assert_msg(fabsf(sums[j] - expected[j]) <= 1e-3F * fabsf(expected[j]),
                      "column %zu: %.9g, not %.9g", j, (double)sums[j], (double)expected[j]);
}
END_TEST

START_TEST(linear_product_adds_its_row) {
    const size_t m = 13, n = (size_t)_i, k = 300 % (size_t)(_i * 9) + 1;
    draw_all();
    matrix_multiply_transposed_b_add_row(m, n, k, drawn[0], k, drawn[1], k, drawn[2], fast[0], n + 1);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = (double)drawn[2][j];
            for (size_t l = 0; l < k; l++)
                sum += (double)drawn[0][i * k + l] * (double)drawn[1][j * k + l];
            ck_assert(fabs((double)fast[0][i * (n + 1) + j] - sum) <= 1e-5 * (1 + fabs(sum)));
        }
}
END_TEST

enum { COUNT = 3, STEPS = 7, WIDTH = 8 };
static const uint8_t present[COUNT * STEPS] = {1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1};

static struct layer_run run_block(bool skips_padding, enum activation activation, enum attention_mask mask) {
    struct layer_options options = {.heads = 2,
                                    .feedforward_width = 12,
                                    .activation = activation,
                                    .mask = mask,
                                    .skips_padding = skips_padding};
    struct layer layer =
        layer_make(&layer_encoder_block, "", (struct layer_shape){STEPS, WIDTH}, WIDTH, &options);
    struct layer_run run = layer_run_start(layer, COUNT);
    draw_all();
    run.pass.present = present;
    run.pass.kernels = chosen;
    memcpy(run.parameters, drawn[0], layer.parameter_count * sizeof(float));
    memcpy(run.input, drawn[1], run.input_count * sizeof(float));
    /* The gradient that a mean over the present steps sends back. */
    for (size_t i = 0; i < run.output_count; i++)
        run.grad_output[i] = present[i / WIDTH] ? drawn[2][i] : 0;
    layer_run_forward(&run);
    return run;
}

START_TEST(skipping_padding_changes_no_value_that_is_read) {
    size_t variant = choose(_i);
    enum activation activation = variant % 2 == 0 ? ACTIVATION_RELU : ACTIVATION_GELU;
    enum attention_mask mask = variant / 2 == 0 ? ATTENTION_MASK_NONE : ATTENTION_MASK_CAUSAL;
    struct layer_run whole = run_block(false, activation, mask), packed = run_block(true, activation, mask);
    float weights[2][COUNT * 2 * STEPS * STEPS];
    whole.layer.type->attention(&whole.layer, whole.parameters, whole.input, whole.saved, weights[0],
                                &whole.pass);
    packed.layer.type->attention(&packed.layer, packed.parameters, packed.input, packed.saved, weights[1],
                                 &packed.pass);
    for (size_t i = 0; i < COUNT * 2 * STEPS * STEPS; i++) {
        size_t query = i / STEPS % STEPS, example = i / (2 * STEPS * STEPS);
        if (present[example * STEPS + query])
            ck_assert(fabsf(weights[0][i] - weights[1][i]) <= 1e-6F);
        else
            ck_assert(weights[1][i] == 0);
    }
    for (size_t i = 0; i < whole.output_count; i++)
        ck_assert(fabsf(packed.output[i] - (present[i / WIDTH] ? whole.output[i] : 0)) <= 2e-6F);
    layer_run_backward(&whole);
    layer_run_backward(&packed);
    layer_check_equal("grad_input", packed.grad_input, whole.grad_input, whole.input_count, 1e-5);
    layer_check_equal("grad_parameters", packed.grad_parameters, whole.grad_parameters,
                      whole.layer.parameter_count, 1e-5);
    layer_run_end(&whole);
    layer_run_end(&packed);
}
END_TEST

static void add_tests(TCase *tests) {
    const struct kernels *tables[KERNELS_LISTED];
    int count = (int)kernels_list(tables);
    matrix_use_one_thread();
    tcase_add_loop_test(tests, layer_norms_agree, count, 70 * count);
    tcase_add_loop_test(tests, elementwise_kernels_agree, count, 40 * count);
    tcase_add_loop_test(tests, attention_heads_agree, count, (ATTENTION_HEAD_MAXIMUM_STEPS + 1) * count);
    tcase_add_loop_test(tests, column_sums_use_every_level, 1, 41);
    tcase_add_loop_test(tests, linear_product_adds_its_row, 1, 40);
    tcase_add_loop_test(tests, skipping_padding_changes_no_value_that_is_read, 0, 4 * count);
}
