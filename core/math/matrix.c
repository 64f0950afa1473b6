/* Products of row-major float matrices: see matrix.h. */
#include "core/math/matrix.h"

#include <cblas.h>

void matrix_use_one_thread(void) {
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

static void multiply(enum CBLAS_TRANSPOSE transpose_a, enum CBLAS_TRANSPOSE transpose_b, size_t m, size_t n,
                     size_t k, float alpha, const float *a, size_t a_stride, const float *b, size_t b_stride,
                     float beta, float *c, size_t c_stride) {
    if (m == 0 || n == 0)
        return;
    cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, (blasint)m, (blasint)n, (blasint)k, alpha, a,
                (blasint)a_stride, b, (blasint)b_stride, beta, c, (blasint)c_stride);
}

void matrix_multiply(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                     const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    multiply(CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
}

void matrix_multiply_transposed_b(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    multiply(CblasNoTrans, CblasTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
}

void matrix_multiply_transposed_a(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    multiply(CblasTrans, CblasNoTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
}
