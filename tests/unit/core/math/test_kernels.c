/* The kernels of every set of lanes against the reference, at sizes that leave tails of every length. */
#include "core/math/kernels.h"
#include "core/model/optimizers.h"
#include "core/random/torch_random.h"
#include "tests/unit/core/math/reference_kernels.h"
#include "tests/unit/main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

static float plain[LONGEST], fast[LONGEST], other[LONGEST], third[LONGEST];
static const struct kernels *chosen;

/* Each test runs with every table. Chooses the table for `index`, and returns the test's own index. */
static size_t choose(int index) {
    const struct kernels *tables[KERNELS_LISTED];
    size_t count = kernels_list(tables);
    chosen = tables[(size_t)index % count];
    return (size_t)index / count;
}

static void draw(float *values, size_t count, uint64_t seed, double deviation) {
    struct torch_generator generator;
    torch_generator_seed(&generator, seed);
    torch_normal(&generator, values, count, 0, deviation);
}

/* Relative to the expected value, or to `floor` if that is larger. */
static void compare(const float *got, const float *expected, size_t count, float tolerance, float floor) {
    for (size_t i = 0; i < count; i++) {
        float allowed = tolerance * fmaxf(fabsf(expected[i]), floor);
        if (!(fabsf(got[i] - expected[i]) <= allowed))
            ck_abort_msg("value %zu of %zu: %.9g, plain %.9g", i, count, (double)got[i], (double)expected[i]);
    }
}

START_TEST(hyperbolic_tangent) {
    const size_t count = choose(_i);
    draw(plain, count, 1, 8);
    memcpy(other, plain, sizeof other);
    memcpy(fast, other, sizeof fast);
    kernels_reference.hyperbolic_tangent(plain, count);
    chosen->hyperbolic_tangent(fast, count);
    compare(fast, plain, count, 4e-7F, 0);
    ck_assert(fast[count] == other[count]);
}
END_TEST

static const float extreme_values[] = {0,   -0.0F, 1e-30F, -1e-30F,  80,        -80,
                                       200, -200,  0.5F,   INFINITY, -INFINITY, NAN};
enum { EXTREMES = sizeof extreme_values / sizeof extreme_values[0] };

START_TEST(extremes_of_tanh) {
    choose(_i);
    float t[EXTREMES];
    memcpy(t, extreme_values, sizeof t);
    chosen->hyperbolic_tangent(t, EXTREMES);
    ck_assert(t[0] == 0 && t[1] == 0 && t[2] == 1e-30F && t[3] == -1e-30F);
    ck_assert(t[6] == 1 && t[7] == -1 && t[9] == 1 && t[10] == -1 && isnan(t[11]));
}
END_TEST

/* exp as in softmax, which applies it to values up to 0. */
START_TEST(extremes_of_softmax) {
    choose(_i);
    float row[] = {0, -0.0F, -1e-30F, -80, -200, -INFINITY};
    chosen->softmax_rows(row, 1, 6, 1);
    ck_assert(row[0] == row[1] && row[0] == row[2]);
    ck_assert(fabsf(3 * row[0] - 1) < 1e-6F);
    ck_assert(row[3] > 0 && row[3] < 1e-34F && row[4] == 0 && row[5] == 0);
}
END_TEST

/* A row is shifted by its own largest value, not by the filling of its tail. */
START_TEST(softmax_of_very_negative_values) {
    const size_t columns = choose(_i);
    float row[40];
    for (size_t j = 0; j < columns; j++)
        row[j] = -1000 - (float)j;
    memcpy(plain, row, sizeof row);
    kernels_reference.softmax_rows(plain, 1, columns, 1);
    chosen->softmax_rows(row, 1, columns, 1);
    ck_assert(plain[0] > 0.6F);
    compare(row, plain, columns, 1e-6F, 1e-30F);
}
END_TEST

/* As in PyTorch, of which this is torch.softmax: one NaN or infinity makes a whole row NaN, and so do scores
 * that are all minus infinity. */
START_TEST(softmax_of_infinities_and_nan) {
    const size_t columns = choose(_i);
    static const float faults[] = {INFINITY, NAN, -INFINITY};
    for (size_t fault = 0; fault < 3; fault++)
        for (size_t at = 0; at < columns; at++) {
            float row[40];
            for (size_t j = 0; j < columns; j++)
                row[j] = fault == 2 ? -INFINITY : (float)j;
            row[at] = faults[fault];
            chosen->softmax_rows(row, 1, columns, 0.5F);
            for (size_t j = 0; j < columns; j++)
                if (!isnan(row[j]))
                    ck_abort_msg("%g at %zu of %zu: weight %zu is %g", (double)faults[fault], at, columns, j,
                                 (double)row[j]);
        }
}
END_TEST

/* Where one score is far above all others, its weight is 1 and the gradient of every score 0, to the bit. */
START_TEST(certain_weights_have_no_gradient) {
    const size_t columns = choose(_i), rows = 6, count = rows * columns;
    draw(plain, count, 7, 1);
    draw(other, count, 8, 3);
    for (size_t i = 0; i < rows; i++)
        plain[i * columns + i * 7 % columns] = 1e3F * powf(10, (float)i);
    chosen->softmax_rows(plain, rows, columns, 0.37F);
    for (size_t i = 0; i < rows; i++)
        ck_assert(plain[i * columns + i * 7 % columns] == 1);
    memcpy(fast, plain, sizeof fast);
    memcpy(third, other, sizeof third);
    chosen->softmax_rows_backward(plain, third, rows, columns, 0.37F);
    chosen->softmax_rows_backward_shared(fast, other, rows, columns, 0.37F);
    for (size_t i = 0; i < count; i++)
        if (third[i] != 0 || fast[i] != 0)
            ck_abort_msg("the gradient of score %zu is %g, of a shared one %g", i, (double)third[i],
                         (double)fast[i]);
}
END_TEST

/* sigmoid as in the gates of an LSTM. The input gate's values are in the first rows of `gates`. */
START_TEST(extremes_of_sigmoid) {
    choose(_i);
    float gates[4][EXTREMES] = {0}, cell[EXTREMES], cell_tanh[EXTREMES], hidden[EXTREMES];
    const float *s = gates[0];
    memcpy(gates[0], extreme_values, sizeof gates[0]);
    chosen->lstm_step(gates[0], NULL, cell, cell_tanh, hidden, 1, EXTREMES);
    ck_assert(s[0] == 0.5F && s[1] == 0.5F && s[6] == 1 && s[9] == 1);
    ck_assert(s[7] < 1e-37F && s[10] < 1e-37F && isnan(s[11]));
}
END_TEST

START_TEST(softmax_and_its_gradient) {
    const size_t columns = choose(_i), rows = 7, count = rows * columns;
    draw(plain, count, 2, 3);
    plain[0] = columns > 1 ? -INFINITY : 0;
    for (size_t j = 0; j < columns; j++)
        plain[columns + j] = -INFINITY;
    memcpy(fast, plain, sizeof fast);
    kernels_reference.softmax_rows(plain, rows, columns, 0.7F);
    chosen->softmax_rows(fast, rows, columns, 0.7F);
    for (size_t j = 0; j < columns; j++) {
        ck_assert(isnan(plain[columns + j]) && isnan(fast[columns + j]));
        plain[columns + j] = fast[columns + j] = 0;
    }
    compare(fast, plain, count, 1e-6F, 0);
    for (size_t i = 2; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++)
            sum += (double)fast[i * columns + j];
        ck_assert_double_le(fabs(sum - 1), 1e-6);
    }

    draw(other, count, 3, 1);
    memcpy(third, other, sizeof third);
    kernels_reference.softmax_rows_backward(plain, other, rows, columns, 0.7F);
    chosen->softmax_rows_backward(plain, third, rows, columns, 0.7F);
    compare(third, other, count, 2e-6F, 0.1F);

    draw(other, columns, 4, 1);
    memcpy(fast, plain, sizeof fast);
    kernels_reference.softmax_rows_backward_shared(plain, other, rows, columns, 0.7F);
    chosen->softmax_rows_backward_shared(fast, other, rows, columns, 0.7F);
    compare(fast, plain, count, 2e-6F, 0.1F);
}
END_TEST

START_TEST(column_sums_and_tanh_backward) {
    const size_t columns = choose(_i), rows = 13;
    float sums[2][64] = {{1, 2}, {1, 2}};
    draw(other, rows * columns, 5, 1);
    kernels_reference.add_column_sums(other, rows, columns, sums[0]);
    chosen->add_column_sums(other, rows, columns, sums[1]);
    compare(sums[1], sums[0], columns, 2e-6F, 1);
    ck_assert(sums[1][columns] == sums[0][columns]);

    draw(plain, columns, 6, 1);
    kernels_reference.hyperbolic_tangent(plain, columns);
    kernels_reference.tanh_backward(plain, other, third, columns);
    chosen->tanh_backward(plain, other, fast, columns);
    compare(fast, third, columns, 1e-6F, 0.1F);
}
END_TEST

START_TEST(lstm_steps) {
    const size_t width = choose(_i), rows = 3, block = rows * width;
    float gates[2][4 * 3 * 64], before[3 * 64], cell[2][3 * 64], squashed[2][3 * 64], hidden[2][3 * 64];
    float grad_hidden[3 * 64], grad_cell[2][3 * 64];
    draw(gates[0], 4 * block, 7, 2);
    draw(before, block, 8, 1);
    draw(grad_hidden, block, 9, 1);
    draw(grad_cell[0], block, 10, 1);
    const struct kernels *both[] = {&kernels_reference, chosen};
    for (size_t first = 0; first < 2; first++) {
        memcpy(gates[1], gates[0], sizeof gates[1]);
        memcpy(grad_cell[1], grad_cell[0], sizeof grad_cell[1]);
        for (size_t i = 0; i < 2; i++)
            both[i]->lstm_step(gates[i], first ? NULL : before, cell[i], squashed[i], hidden[i], rows, width);
        compare(gates[1], gates[0], 4 * block, 1e-6F, 0.1F);
        compare(cell[1], cell[0], block, 1e-6F, 0.1F);
        compare(squashed[1], squashed[0], block, 1e-6F, 0.1F);
        compare(hidden[1], hidden[0], block, 1e-6F, 0.1F);
        for (size_t i = 0; i < 2; i++)
            both[i]->lstm_step_backward(gates[i], first ? NULL : before, squashed[i], grad_hidden,
                                        grad_cell[i], rows, width);
        compare(gates[1], gates[0], 4 * block, 2e-6F, 0.1F);
        compare(grad_cell[1], grad_cell[0], block, 2e-6F, 0.1F);
    }
}
END_TEST

#if defined(__x86_64__)
START_TEST(avx512_gives_the_bits_of_avx2) {
    const size_t width = (size_t)_i, rows = 3, block = rows * width;
    if (!__builtin_cpu_supports("avx512f"))
        return;
    const struct kernels *both[] = {&kernels_avx2, &kernels_avx512};
    float values[2][3 * 64], gates[2][4 * 3 * 64], before[3 * 64], cell[2][3 * 64], squashed[2][3 * 64],
        hidden[2][3 * 64], grad_cell[2][3 * 64];
    for (size_t i = 0; i < 2; i++) {
        draw(values[i], block, 15, 3);
        draw(gates[i], 4 * block, 7, 20);
        draw(before, block, 8, 1);
        draw(grad_cell[i], block, 10, 1);
        both[i]->hyperbolic_tangent(values[i], block);
        both[i]->tanh_backward(values[i], before, values[i], block);
        both[i]->lstm_step(gates[i], before, cell[i], squashed[i], hidden[i], rows, width);
        both[i]->lstm_step_backward(gates[i], before, squashed[i], hidden[i], grad_cell[i], rows, width);
    }
    ck_assert_mem_eq(values[0], values[1], block * sizeof(float));
    ck_assert_mem_eq(gates[0], gates[1], 4 * block * sizeof(float));
    ck_assert_mem_eq(cell[0], cell[1], block * sizeof(float));
    ck_assert_mem_eq(squashed[0], squashed[1], block * sizeof(float));
    ck_assert_mem_eq(hidden[0], hidden[1], block * sizeof(float));
    ck_assert_mem_eq(grad_cell[0], grad_cell[1], block * sizeof(float));
}
END_TEST
#endif

START_TEST(optimizer_steps) {
    const size_t count = choose(_i);
    enum { ROWS = 4, STRIDE = 70 };
    float p[2][64], m[2][64], v[2][64], g[ROWS * STRIDE];
    const size_t rows = 1 + count % ROWS;
    draw(g, ROWS * STRIDE, 14, 1e-1);
    for (size_t j = 0; j < ROWS * STRIDE; j++)
        g[j] = roundf(g[j] * 1024) / 1024; /* so that sums of rows are exact, in any order */
    for (int kind = 0; kind < OPTIMIZER_COUNT; kind++) {
        struct optimizer_settings settings = {(enum optimizer_kind)kind, 0.005,
                                              optimizer_table[kind].takes_momentum ? 0.9 : 0,
                                              count % 2 == 0 ? 0 : 0.1};
        struct step_factors factors = optimizer_factors_at(&settings, 3);
        factors.is_first = count % 3 == 0;
        draw(p[0], count, 11, 1);
        draw(m[0], count, 12, 1e-2);
        draw(v[0], count, 13, 1e-3);
        for (size_t j = 0; j < count; j++)
            v[0][j] = fabsf(v[0][j]);
        memcpy(p[1], p[0], sizeof p[1]);
        memcpy(m[1], m[0], sizeof m[1]);
        memcpy(v[1], v[0], sizeof v[1]);
        kernels_reference.optimizer_steps[kind](p[0], g, rows, STRIDE, m[0], v[0], count, &factors);
        chosen->optimizer_steps[kind](p[1], g, rows, STRIDE, m[1], v[1], count, &factors);
        compare(p[1], p[0], count, 1e-6F, 0.1F);
        compare(m[1], m[0], count, 1e-6F, 0.1F);
        compare(v[1], v[0], count, 1e-6F, 1e-4F);
    }
}
END_TEST

/* The first step of torch.optim.Adam is lr g / (|g| + 1e-8); the 1e-8 shows for gradients of that size. */
START_TEST(adam_adds_epsilon_to_the_corrected_root) {
    choose(_i);
    static const float gradients[] = {1e-8F, -1e-8F, 3e-9F, 1e-7F, 0};
    enum { COUNT = sizeof gradients / sizeof *gradients };
    const struct kernels *both[] = {&kernels_reference, chosen};
    const double rate = 0.005;
    struct optimizer_settings settings = {.kind = OPTIMIZER_ADAM, .learning_rate = rate};
    struct step_factors factors = optimizer_factors_at(&settings, 1);
    for (size_t i = 0; i < 2; i++) {
        float p[COUNT] = {0}, m[COUNT] = {0}, v[COUNT] = {0};
        both[i]->optimizer_steps[OPTIMIZER_ADAM](p, gradients, 1, COUNT, m, v, COUNT, &factors);
        for (size_t j = 0; j < COUNT; j++) {
            double g = (double)gradients[j], expected = -rate * g / (fabs(g) + 1e-8);
            ck_assert_double_le(fabs((double)p[j] - expected), 1e-5 * fabs(expected));
        }
    }
}
END_TEST

static void add_tests(TCase *tests) {
    const struct kernels *tables[KERNELS_LISTED];
    int count = (int)kernels_list(tables);
    tcase_add_loop_test(tests, hyperbolic_tangent, count, 70 * count);
    tcase_add_loop_test(tests, extremes_of_tanh, 0, count);
    tcase_add_loop_test(tests, extremes_of_softmax, 0, count);
    tcase_add_loop_test(tests, softmax_of_very_negative_values, count, 40 * count);
    tcase_add_loop_test(tests, extremes_of_sigmoid, 0, count);
    tcase_add_loop_test(tests, softmax_of_infinities_and_nan, count, 40 * count);
    tcase_add_loop_test(tests, certain_weights_have_no_gradient, count, 40 * count);
    tcase_add_loop_test(tests, softmax_and_its_gradient, count, 40 * count);
    tcase_add_loop_test(tests, column_sums_and_tanh_backward, count, 40 * count);
    tcase_add_loop_test(tests, lstm_steps, count, 40 * count);
    tcase_add_loop_test(tests, optimizer_steps, count, 40 * count);
    tcase_add_loop_test(tests, adam_adds_epsilon_to_the_corrected_root, 0, count);
#if defined(__x86_64__)
    tcase_add_loop_test(tests, avx512_gives_the_bits_of_avx2, 1, 64);
#endif
}
