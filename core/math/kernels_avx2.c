/* The kernels for processors with AVX2: see kernels.h. Rows and tails shorter than a vector are read and
 * written through masks, so that no value depends on where in memory it lies. */
#include "core/math/kernels.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>

/* Four independent vectors at a time keep the multipliers busy while each waits for its own chain. */
#define DEFINE_ELEMENTWISE(name, function)                                                                   \
    static void name(float *values, size_t count) {                                                          \
        size_t i = 0;                                                                                        \
        for (; i + 32 <= count; i += 32) {                                                                   \
            __m256 a = function(_mm256_loadu_ps(values + i)), b = function(_mm256_loadu_ps(values + i + 8)); \
            __m256 c = function(_mm256_loadu_ps(values + i + 16)),                                           \
                   d = function(_mm256_loadu_ps(values + i + 24));                                           \
            _mm256_storeu_ps(values + i, a);                                                                 \
            _mm256_storeu_ps(values + i + 8, b);                                                             \
            _mm256_storeu_ps(values + i + 16, c);                                                            \
            _mm256_storeu_ps(values + i + 24, d);                                                            \
        }                                                                                                    \
        for (; i < count; i += 8) {                                                                          \
            __m256i lanes = vector_first_lanes(count - i < 8 ? (int)(count - i) : 8);                        \
            _mm256_maskstore_ps(values + i, lanes, function(_mm256_maskload_ps(values + i, lanes)));         \
        }                                                                                                    \
    }

DEFINE_ELEMENTWISE(exponential, vector_exp)
DEFINE_ELEMENTWISE(hyperbolic_tangent, vector_tanh)
DEFINE_ELEMENTWISE(sigmoid, vector_sigmoid)

static float largest_of(const float *row, size_t columns, __m256i tail) {
    __m256 largest = _mm256_set1_ps(-INFINITY);
    size_t j = 0;
    for (; j + 8 <= columns; j += 8)
        largest = _mm256_max_ps(largest, _mm256_loadu_ps(row + j));
    if (j < columns) {
        __m256 last = _mm256_maskload_ps(row + j, tail);
        largest = _mm256_max_ps(largest,
                                _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), last, _mm256_castsi256_ps(tail)));
    }
    return vector_largest(largest);
}

static void softmax_row(float *row, size_t columns, __m256i tail, float scale) {
    float largest = largest_of(row, columns, tail);
    if (largest == -INFINITY)
        largest = 0;
    const __m256 factor = _mm256_set1_ps(scale), shift = _mm256_set1_ps(largest);
    __m256 sum = _mm256_setzero_ps();
    size_t j = 0;
    for (; j + 8 <= columns; j += 8) {
        __m256 x = vector_exp(_mm256_mul_ps(factor, _mm256_sub_ps(_mm256_loadu_ps(row + j), shift)));
        _mm256_storeu_ps(row + j, x);
        sum = _mm256_add_ps(sum, x);
    }
    if (j < columns) {
        __m256 x = _mm256_maskload_ps(row + j, tail);
        x = vector_exp(_mm256_mul_ps(factor, _mm256_sub_ps(x, shift)));
        x = _mm256_and_ps(x, _mm256_castsi256_ps(tail));
        _mm256_maskstore_ps(row + j, tail, x);
        sum = _mm256_add_ps(sum, x);
    }
    float total = vector_sum(sum);
    const __m256 share = _mm256_set1_ps(total > 0 ? 1 / total : 0);
    for (j = 0; j + 8 <= columns; j += 8)
        _mm256_storeu_ps(row + j, _mm256_mul_ps(share, _mm256_loadu_ps(row + j)));
    if (j < columns)
        _mm256_maskstore_ps(row + j, tail, _mm256_mul_ps(share, _mm256_maskload_ps(row + j, tail)));
}

static void softmax_rows(float *scores, size_t rows, size_t columns, float scale) {
    __m256i tail = vector_first_lanes((int)(columns % 8));
    for (size_t i = 0; i < rows; i++)
        softmax_row(scores + i * columns, columns, tail, scale);
}

static void softmax_row_backward(const float *w, float *g, size_t columns, __m256i tail, float scale) {
    __m256 sum = _mm256_setzero_ps();
    size_t j = 0;
    for (; j + 8 <= columns; j += 8)
        sum = _mm256_fmadd_ps(_mm256_loadu_ps(w + j), _mm256_loadu_ps(g + j), sum);
    if (j < columns)
        sum = _mm256_fmadd_ps(_mm256_maskload_ps(w + j, tail), _mm256_maskload_ps(g + j, tail), sum);
    const __m256 mean = _mm256_set1_ps(vector_sum(sum)), factor = _mm256_set1_ps(scale);
    for (j = 0; j + 8 <= columns; j += 8) {
        __m256 scaled = _mm256_mul_ps(factor, _mm256_loadu_ps(w + j));
        _mm256_storeu_ps(g + j, _mm256_mul_ps(scaled, _mm256_sub_ps(_mm256_loadu_ps(g + j), mean)));
    }
    if (j < columns) {
        __m256 scaled = _mm256_mul_ps(factor, _mm256_maskload_ps(w + j, tail));
        __m256 difference = _mm256_sub_ps(_mm256_maskload_ps(g + j, tail), mean);
        _mm256_maskstore_ps(g + j, tail, _mm256_mul_ps(scaled, difference));
    }
}

static void softmax_rows_backward(const float *weights, float *gradient, size_t rows, size_t columns,
                                  float scale) {
    __m256i tail = vector_first_lanes((int)(columns % 8));
    for (size_t i = 0; i < rows; i++)
        softmax_row_backward(weights + i * columns, gradient + i * columns, columns, tail, scale);
}

const struct kernels kernels_avx2 = {
    .name = "AVX2",
    .exponential = exponential,
    .hyperbolic_tangent = hyperbolic_tangent,
    .sigmoid = sigmoid,
    .softmax_rows = softmax_rows,
    .softmax_rows_backward = softmax_rows_backward,
};

#endif
