/* The kernels for processors with AVX2: see kernels.h. Rows and tails shorter than a vector are read and
 * written through masks, so that no value depends on where in memory it lies. */
#include "core/math/kernels.h"

#include "core/math/attention_head.h"
#include "core/math/block_kernels.h"
#include "core/math/recurrent_kernels.h"
#include "core/math/score_kernels.h"
#include "core/math/tile_kernels.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>

/* Four independent vectors at a time keep the multipliers busy while each waits for its own chain. */
static void hyperbolic_tangent(float *values, size_t count) {
    size_t i = 0;
    for (; i + 32 <= count; i += 32) {
        __m256 a = vector_tanh(_mm256_loadu_ps(values + i)), b = vector_tanh(_mm256_loadu_ps(values + i + 8));
        __m256 c = vector_tanh(_mm256_loadu_ps(values + i + 16)),
               d = vector_tanh(_mm256_loadu_ps(values + i + 24));
        _mm256_storeu_ps(values + i, a);
        _mm256_storeu_ps(values + i + 8, b);
        _mm256_storeu_ps(values + i + 16, c);
        _mm256_storeu_ps(values + i + 24, d);
    }
    for (; i < count; i += 8) {
        size_t left = count - i;
        vector_store_first(values + i, left, vector_tanh(vector_load_first(values + i, left)));
    }
}

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

static void softmax_row_backward_shared(float *w, const float *g, size_t columns, __m256i tail, float scale) {
    __m256 sum = _mm256_setzero_ps();
    size_t j = 0;
    for (; j + 8 <= columns; j += 8)
        sum = _mm256_fmadd_ps(_mm256_loadu_ps(w + j), _mm256_loadu_ps(g + j), sum);
    if (j < columns)
        sum = _mm256_fmadd_ps(_mm256_maskload_ps(w + j, tail), _mm256_maskload_ps(g + j, tail), sum);
    const __m256 mean = _mm256_set1_ps(vector_sum(sum)), factor = _mm256_set1_ps(scale);
    for (j = 0; j + 8 <= columns; j += 8) {
        __m256 difference = _mm256_sub_ps(_mm256_loadu_ps(g + j), mean);
        _mm256_storeu_ps(w + j, _mm256_mul_ps(_mm256_mul_ps(factor, difference), _mm256_loadu_ps(w + j)));
    }
    if (j < columns) {
        __m256 difference = _mm256_mul_ps(factor, _mm256_sub_ps(_mm256_maskload_ps(g + j, tail), mean));
        _mm256_maskstore_ps(w + j, tail, _mm256_mul_ps(difference, _mm256_maskload_ps(w + j, tail)));
    }
}

static void softmax_rows_backward_shared(float *weights, const float *gradient, size_t rows, size_t columns,
                                         float scale) {
    __m256i tail = vector_first_lanes((int)(columns % 8));
    for (size_t i = 0; i < rows; i++)
        softmax_row_backward_shared(weights + i * columns, gradient, columns, tail, scale);
}

/* What works on up to eight lanes is inlined twice: for whole vectors, where `left` is a constant 8, and for
 * the rest of a row. */
#define EIGHT_LANES static inline __attribute__((always_inline))
#define FOR_EIGHTS(count, function, ...)                                                                     \
    do {                                                                                                     \
        size_t first = 0;                                                                                    \
        for (; first + 8 <= (count); first += 8)                                                             \
            function(first, 8, __VA_ARGS__);                                                                 \
        if (first < (count))                                                                                 \
            function(first, (count)-first, __VA_ARGS__);                                                     \
    } while (0)

/* Of eight columns from `j` on, added to `even`. */
EIGHT_LANES __m256 sums_of_columns(__m256 even, size_t j, size_t left, const float *matrix, size_t rows,
                                   size_t stride) {
    __m256 odd = _mm256_setzero_ps();
    size_t i = 0;
    for (; i + 2 <= rows; i += 2) {
        even = _mm256_add_ps(even, vector_load_first(matrix + i * stride + j, left));
        odd = _mm256_add_ps(odd, vector_load_first(matrix + (i + 1) * stride + j, left));
    }
    if (i < rows)
        even = _mm256_add_ps(even, vector_load_first(matrix + i * stride + j, left));
    return _mm256_add_ps(even, odd);
}

EIGHT_LANES void sum_columns(size_t j, size_t left, const float *matrix, size_t rows, size_t columns,
                             float *sums) {
    __m256 before = vector_load_first(sums + j, left);
    vector_store_first(sums + j, left, sums_of_columns(before, j, left, matrix, rows, columns));
}

static void add_column_sums(const float *matrix, size_t rows, size_t columns, float *sums) {
    FOR_EIGHTS(columns, sum_columns, matrix, rows, columns, sums);
}

/* x (1 - y^2) */
static inline __m256 through_tanh(__m256 x, __m256 y) {
    return _mm256_mul_ps(x, _mm256_fnmadd_ps(y, y, _mm256_set1_ps(1)));
}

/* x y (1 - y) */
static inline __m256 through_sigmoid(__m256 x, __m256 y) {
    return _mm256_mul_ps(_mm256_mul_ps(x, y), _mm256_sub_ps(_mm256_set1_ps(1), y));
}

EIGHT_LANES void tanh_backward_at(size_t j, size_t left, const float *y, const float *gradient,
                                  float *result) {
    __m256 x = through_tanh(vector_load_first(gradient + j, left), vector_load_first(y + j, left));
    vector_store_first(result + j, left, x);
}

static void tanh_backward(const float *y, const float *gradient, float *result, size_t count) {
    FOR_EIGHTS(count, tanh_backward_at, y, gradient, result);
}

EIGHT_LANES void lstm_step_at(size_t j, size_t left, float *gate, const float *cell_before, float *cell,
                              float *cell_tanh, float *hidden, size_t width) {
    __m256 i = vector_sigmoid(vector_load_first(gate + j, left));
    __m256 f = vector_sigmoid(vector_load_first(gate + width + j, left));
    __m256 g = vector_tanh(vector_load_first(gate + 2 * width + j, left));
    __m256 o = vector_sigmoid(vector_load_first(gate + 3 * width + j, left));
    __m256 c = _mm256_mul_ps(i, g);
    if (cell_before != NULL)
        c = _mm256_fmadd_ps(f, vector_load_first(cell_before + j, left), c);
    __m256 squashed = vector_tanh(c);
    vector_store_first(gate + j, left, i);
    vector_store_first(gate + width + j, left, f);
    vector_store_first(gate + 2 * width + j, left, g);
    vector_store_first(gate + 3 * width + j, left, o);
    vector_store_first(cell + j, left, c);
    vector_store_first(cell_tanh + j, left, squashed);
    vector_store_first(hidden + j, left, _mm256_mul_ps(o, squashed));
}

static void lstm_step(float *gates, const float *cell_before, float *cell, float *cell_tanh, float *hidden,
                      size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *gate = gates + row * 4 * width;
        size_t at = row * width;
        FOR_EIGHTS(width, lstm_step_at, gate, cell_before == NULL ? NULL : cell_before + at, cell + at,
                   cell_tanh + at, hidden + at, width);
    }
}

EIGHT_LANES void lstm_step_backward_at(size_t j, size_t left, float *gate, const float *cell_before,
                                       const float *cell_tanh, const float *grad_hidden, float *grad_cell,
                                       size_t width) {
    __m256 i = vector_load_first(gate + j, left), f = vector_load_first(gate + width + j, left);
    __m256 g = vector_load_first(gate + 2 * width + j, left),
           o = vector_load_first(gate + 3 * width + j, left);
    __m256 before = cell_before == NULL ? _mm256_setzero_ps() : vector_load_first(cell_before + j, left);
    __m256 squashed = vector_load_first(cell_tanh + j, left);
    __m256 to_hidden = vector_load_first(grad_hidden + j, left);
    __m256 to_cell = through_tanh(_mm256_mul_ps(to_hidden, o), squashed);
    to_cell = _mm256_add_ps(to_cell, vector_load_first(grad_cell + j, left));
    vector_store_first(grad_cell + j, left, _mm256_mul_ps(to_cell, f));
    vector_store_first(gate + j, left, through_sigmoid(_mm256_mul_ps(to_cell, g), i));
    vector_store_first(gate + width + j, left, through_sigmoid(_mm256_mul_ps(to_cell, before), f));
    vector_store_first(gate + 2 * width + j, left, through_tanh(_mm256_mul_ps(to_cell, i), g));
    vector_store_first(gate + 3 * width + j, left, through_sigmoid(_mm256_mul_ps(to_hidden, squashed), o));
}

static void lstm_step_backward(float *gates, const float *cell_before, const float *cell_tanh,
                               const float *grad_hidden, float *grad_cell, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *gate = gates + row * 4 * width;
        size_t at = row * width;
        FOR_EIGHTS(width, lstm_step_backward_at, gate, cell_before == NULL ? NULL : cell_before + at,
                   cell_tanh + at, grad_hidden + at, grad_cell + at, width);
    }
}

static void largest_of_rows(const float *matrix, size_t rows, size_t columns, float *largest) {
    __m256i tail = vector_first_lanes((int)(columns % 8));
    for (size_t i = 0; i < rows; i++)
        largest[i] = largest_of(matrix + i * columns, columns, tail);
}

static void adam_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                      float *first_moment, float *second_moment, size_t count,
                      const struct adam_factors *factors) {
    const __m256 correction = _mm256_set1_ps(factors->second_correction),
                 step = _mm256_set1_ps(factors->step_size);
    for (size_t i = 0; i < count; i += 8) {
        size_t left = count - i;
        __m256 g = sums_of_columns(_mm256_setzero_ps(), i, left, gradients, rows, stride);
        __m256 m =
            _mm256_mul_ps(vector_load_first(first_moment + i, left), _mm256_set1_ps(factors->first_decay));
        __m256 v =
            _mm256_mul_ps(vector_load_first(second_moment + i, left), _mm256_set1_ps(factors->second_decay));
        m = _mm256_fmadd_ps(g, _mm256_set1_ps(factors->first_share), m);
        v = _mm256_add_ps(v, _mm256_mul_ps(_mm256_mul_ps(_mm256_set1_ps(factors->second_share), g), g));
        __m256 denominator = _mm256_div_ps(_mm256_sqrt_ps(v), correction);
        denominator = _mm256_add_ps(denominator, _mm256_set1_ps(factors->epsilon));
        __m256 change = _mm256_div_ps(_mm256_mul_ps(step, m), denominator);
        __m256 p = _mm256_sub_ps(vector_load_first(parameters + i, left), change);
        vector_store_first(first_moment + i, left, m);
        vector_store_first(second_moment + i, left, v);
        vector_store_first(parameters + i, left, p);
    }
}

/* What one with AVX-512 runs too: the others are in recurrent_kernels_avx512.c and
 * score_kernels_avx512.c. */
#define COMMON_KERNELS                                                                                       \
    .softmax_rows = softmax_rows, .softmax_rows_backward = softmax_rows_backward,                            \
    .softmax_rows_backward_shared = softmax_rows_backward_shared, .add_column_sums = add_column_sums,        \
    .layer_norm_forward = layer_norm_forward_avx2, .layer_norm_backward = layer_norm_backward_avx2,          \
    .add_values = add_values_avx2, .tile_softmax = tile_softmax_avx2, .tile_weights = tile_weights_avx2,     \
    .tile_weights_and_means = tile_weights_and_means_avx2, .tile_backward = tile_backward_avx2,              \
    .relu = relu_avx2, .relu_backward = relu_backward_avx2,                                                  \
    .attention_head_forward = attention_head_forward_avx2,                                                   \
    .attention_head_backward = attention_head_backward_avx2, .largest_of_rows = largest_of_rows,             \
    .adam_step = adam_step

const struct kernels kernels_avx2 = {
    .name = "AVX2",
    .hyperbolic_tangent = hyperbolic_tangent,
    .tanh_backward = tanh_backward,
    .lstm_step = lstm_step,
    .lstm_step_backward = lstm_step_backward,
    .shared_scores_forward = shared_scores_forward_avx2,
    .shared_scores_backward = shared_scores_backward_avx2,
    .tilted_moments = tilted_moments_avx2,
    COMMON_KERNELS,
};

const struct kernels kernels_avx512 = {
    .name = "AVX-512",
    .hyperbolic_tangent = hyperbolic_tangent_avx512,
    .tanh_backward = tanh_backward_avx512,
    .lstm_step = lstm_step_avx512,
    .lstm_step_backward = lstm_step_backward_avx512,
    .shared_scores_forward = shared_scores_forward_avx512,
    .shared_scores_backward = shared_scores_backward_avx512,
    .tilted_moments = tilted_moments_avx512,
    COMMON_KERNELS,
};

#endif
