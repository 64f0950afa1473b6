/* Products of row-major float matrices: see matrix.h. Small ones go to the kernel of matrix_small.h where the
 * processor can run it, the others to CBLAS. */
#include "core/math/matrix.h"

#include "core/math/matrix_small.h"

#include <cblas.h>
#include <stdbool.h>
#include <string.h>

/* Floats of b for which the small kernel is faster: up to half a second-level cache, and, where b must be
 * transposed first, what fits on the stack. */
enum { SMALL_ELEMENTS = 32768, TRANSPOSED_ELEMENTS = 8192 };

void matrix_use_one_thread(void) {
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

/* OpenBLAS' own, before a fork; its header leaves it out, and builds without threads have none. */
extern int blas_thread_shutdown_(void) __attribute__((weak));

void matrix_end_library_threads(void) {
    matrix_use_one_thread();
    if (blas_thread_shutdown_ != NULL)
        blas_thread_shutdown_();
}

static bool has_small_kernel(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

#if defined(__x86_64__)
static void multiply_small(const struct small_product *product) {
    if (__builtin_cpu_supports("avx512f"))
        matrix_multiply_small_avx512(product);
    else
        matrix_multiply_small_avx2(product);
}
#endif

static void multiply_by_library(enum CBLAS_TRANSPOSE transpose_a, enum CBLAS_TRANSPOSE transpose_b, size_t m,
                                size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    if (m == 0 || n == 0)
        return;
    cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, (blasint)m, (blasint)n, (blasint)k, alpha, a,
                (blasint)a_stride, b, (blasint)b_stride, beta, c, (blasint)c_stride);
}

void matrix_multiply(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                     const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
#if defined(__x86_64__)
    if (k * n <= SMALL_ELEMENTS && has_small_kernel()) {
        struct small_product product = {m, n, k, alpha, beta, a, a_stride, 1, b, b_stride, c, c_stride, NULL};
        multiply_small(&product);
        return;
    }
#endif
    multiply_by_library(CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                        c_stride);
}

void matrix_multiply_transposed_b(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
#if defined(__x86_64__)
    if (k * n <= TRANSPOSED_ELEMENTS && has_small_kernel()) {
        float transposed[TRANSPOSED_ELEMENTS];
        matrix_transpose_avx2(n, k, b, b_stride, transposed);
        struct small_product product = {m, n,          k, alpha, beta,     a,   a_stride,
                                        1, transposed, n, c,     c_stride, NULL};
        multiply_small(&product);
        return;
    }
#endif
    multiply_by_library(CblasNoTrans, CblasTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                        c_stride);
}

void matrix_multiply_transposed_b_add_row(size_t m, size_t n, size_t k, const float *a, size_t a_stride,
                                          const float *b, size_t b_stride, const float *row, float *c,
                                          size_t c_stride) {
#if defined(__x86_64__)
    if (k * n <= TRANSPOSED_ELEMENTS && has_small_kernel()) {
        float transposed[TRANSPOSED_ELEMENTS];
        matrix_transpose_avx2(n, k, b, b_stride, transposed);
        struct small_product product = {m, n, k, 1, 0, a, a_stride, 1, transposed, n, c, c_stride, row};
        multiply_small(&product);
        return;
    }
#endif
    for (size_t i = 0; i < m; i++)
        memcpy(c + i * c_stride, row, n * sizeof *c);
    matrix_multiply_transposed_b(m, n, k, 1, a, a_stride, b, b_stride, 1, c, c_stride);
}

void matrix_multiply_transposed_a(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
#if defined(__x86_64__)
    if (m * n <= SMALL_ELEMENTS && has_small_kernel()) {
        struct small_product product = {m, n, k, alpha, beta, a, 1, a_stride, b, b_stride, c, c_stride, NULL};
        multiply_small(&product);
        return;
    }
#endif
    multiply_by_library(CblasTrans, CblasNoTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                        c_stride);
}

enum { SUM_COLUMNS = 16, SUM_ROWS = 16, SUM_LEVELS = 4 };

/* At most SUM_COLUMNS columns; rows are `stride` floats apart. */
static void add_some_column_sums(const float *matrix, size_t rows, size_t stride, size_t columns,
                                 float *sums) {
    float levels[SUM_LEVELS][SUM_COLUMNS] = {{0}};
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++)
            levels[0][j] += matrix[i * stride + j];
        size_t block = SUM_ROWS;
        for (size_t level = 1; level < SUM_LEVELS && (i + 1) % block == 0; level++, block *= SUM_ROWS)
            for (size_t j = 0; j < columns; j++) {
                levels[level][j] += levels[level - 1][j];
                levels[level - 1][j] = 0;
            }
    }
    for (size_t level = 0; level < SUM_LEVELS; level++)
        for (size_t j = 0; j < columns; j++)
            sums[j] += levels[level][j];
}

void matrix_add_column_sums(const float *matrix, size_t rows, size_t columns, float *sums) {
#if defined(__x86_64__)
    if (has_small_kernel()) {
        matrix_add_column_sums_avx2(matrix, rows, columns, sums);
        return;
    }
#endif
    for (size_t j = 0; j < columns; j += SUM_COLUMNS)
        add_some_column_sums(matrix + j, rows, columns, columns - j < SUM_COLUMNS ? columns - j : SUM_COLUMNS,
                             sums + j);
}
