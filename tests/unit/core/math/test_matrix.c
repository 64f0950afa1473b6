/* Matrix products against sums in double, for small and large shapes with every kind of tail. */
#include "core/math/matrix.h"
#include "core/math/matrix_kernels.h"
#include "core/random/torch_random.h"
#include "tests/unit/main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows are this many numbers longer than necessary. */
enum { SLACK = 3 };

static const size_t shapes[][3] = {{1, 1, 1},     {6, 16, 8},   {7, 17, 5},   {13, 9, 3},    {16, 128, 32},
                                   {16, 32, 128}, {60, 60, 32}, {5, 23, 600}, {32, 32, 900}, {64, 33, 31},
                                   {2, 300, 200}, {300, 3, 2},  {1, 40, 7},   {40, 1, 7},    {12, 8, 257},
                                   {11, 24, 256}, {4, 5, 0}};

static float *draw(size_t count, uint64_t seed) {
    struct torch_generator generator;
    float *values = calloc(count + 1, sizeof *values);
    ck_assert_ptr_nonnull(values);
    torch_generator_seed(&generator, seed);
    torch_normal(&generator, values, count, 0, 1);
    return values;
}

enum kind { PLAIN, TRANSPOSED_B, TRANSPOSED_A };

static double expected_at(enum kind kind, const float *a, size_t a_stride, const float *b, size_t b_stride,
                          size_t k, size_t i, size_t j) {
    double sum = 0;
    for (size_t l = 0; l < k; l++)
        sum += (double)(kind == TRANSPOSED_A ? a[l * a_stride + i] : a[i * a_stride + l]) *
               (double)(kind == TRANSPOSED_B ? b[j * b_stride + l] : b[l * b_stride + j]);
    return sum;
}

static void check_product(enum kind kind, const size_t shape[3], float alpha, float beta) {
    size_t m = shape[0], n = shape[1], k = shape[2];
    size_t a_stride = (kind == TRANSPOSED_A ? m : k) + SLACK,
           b_stride = (kind == TRANSPOSED_B ? k : n) + SLACK;
    size_t c_stride = n + SLACK;
    float *a = draw((kind == TRANSPOSED_A ? k : m) * a_stride, 1),
          *b = draw((kind == TRANSPOSED_B ? n : k) * b_stride, 2);
    float *before = draw(m * c_stride, 3), *c = draw(m * c_stride, 3);
    if (beta == 0)
        for (size_t i = 0; i < m; i++)
            c[i * c_stride] = NAN;
    (kind == PLAIN ? matrix_multiply
     : kind == TRANSPOSED_B
         ? matrix_multiply_transposed_b
         : matrix_multiply_transposed_a)(m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < c_stride; j++) {
            double expected = (double)before[i * c_stride + j];
            if (j < n)
                expected = (double)alpha * expected_at(kind, a, a_stride, b, b_stride, k, i, j) +
                           (beta == 0 ? 0 : (double)beta * expected);
            if (!(fabs((double)c[i * c_stride + j] - expected) <= (j < n ? 1e-6 * (10 + (double)k) : 0)))
                ck_abort_msg("%zu x %zu x %zu, kind %d: c[%zu][%zu] is %g, expected %g", m, n, k, (int)kind,
                             i, j, (double)c[i * c_stride + j], expected);
        }
    free(a);
    free(b);
    free(before);
    free(c);
}

START_TEST(products) {
    check_product((enum kind)(_i % 3), shapes[_i / 3], 1, 0);
    check_product((enum kind)(_i % 3), shapes[_i / 3], 0.5F, 1);
    check_product((enum kind)(_i % 3), shapes[_i / 3], 1, -0.25F);
}
END_TEST

/* The tables that this processor runs, the fastest first. */
static size_t list_tables(const struct matrix_kernels *tables[4]) {
    size_t count = 0;
#define TRY(set, runs)                                                                                       \
    if (runs)                                                                                                \
        tables[count++] = &matrix_kernels_##set;
    TRY_SETS(TRY)
#undef TRY
    return count;
}

/* The result must not depend on which small kernel runs. */
START_TEST(small_products_agree_to_the_bit) {
    size_t m = shapes[_i][0], n = shapes[_i][1], k = shapes[_i][2], c_stride = n + SLACK;
    const struct matrix_kernels *tables[4];
    size_t count = list_tables(tables);
    float *a = draw(m * k, 1), *b = draw(k * n, 2), *row = draw(n, 4);
    for (int transposed = 0; transposed < 2; transposed++) {
        float *first = NULL;
        for (size_t i = 0; i < count; i++) {
            if (tables[i]->multiply_small == NULL)
                continue;
            float *c = draw(m * c_stride, 3);
            struct small_product product = {m, n, k, 0.3F, 0.7F, a, k, 1, b, n, c, c_stride, row};
            if (transposed)
                product.a_row = 1, product.a_column = m, product.row = NULL;
            tables[i]->multiply_small(&product);
            if (first == NULL) {
                first = c;
                continue;
            }
            ck_assert_mem_eq(c, first, m * c_stride * sizeof *c);
            free(c);
        }
        free(first);
    }
    free(a);
    free(b);
    free(row);
}
END_TEST

START_TEST(every_set_transposes_and_adds_columns) {
    enum { ROWS = 300, LARGEST = 40 };
    const size_t columns = (size_t)_i, rows = ROWS - columns;
    const struct matrix_kernels *tables[4];
    size_t count = list_tables(tables);
    float *from = draw(ROWS * LARGEST, 5), *to = draw(ROWS * LARGEST, 6), *sums = draw(4 * LARGEST, 7);
    for (size_t i = 0; i < count; i++) {
        memset(to, 0, ROWS * LARGEST * sizeof *to);
        tables[i]->transpose(rows, columns, from, LARGEST, to);
        for (size_t row = 0; row < rows; row++)
            for (size_t j = 0; j < columns; j++)
                ck_assert(to[j * rows + row] == from[row * LARGEST + j]);
        ck_assert(to[rows * columns] == 0);
        memset(sums + i * LARGEST, 0, LARGEST * sizeof *sums);
        tables[i]->add_column_sums(from, rows, columns, sums + i * LARGEST);
        ck_assert_mem_eq(sums + i * LARGEST, sums, LARGEST * sizeof *sums);
    }
    for (size_t j = 0; j < columns; j++) {
        double sum = 0;
        for (size_t row = 0; row < rows; row++)
            sum += (double)from[row * columns + j];
        ck_assert_double_le(fabs((double)sums[j] - sum), 1e-4);
    }
    free(from);
    free(to);
    free(sums);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_loop_test(tests, products, 0, 3 * (int)(sizeof shapes / sizeof shapes[0]));
    tcase_add_loop_test(tests, small_products_agree_to_the_bit, 0, (int)(sizeof shapes / sizeof shapes[0]));
    tcase_add_loop_test(tests, every_set_transposes_and_adds_columns, 1, 40);
}
