/* Attention of one head, for processors with AVX2: see attention_head.h.
 *
 * Keys (and for the way back values) are transposed once, so that a row of scores is a sum of vectors, one
 * for each column of the query. A row of up to 32 scores is one to four vectors and is never written until
 * it is a row of weights. */
#include "core/math/attention_head.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>

enum { MAXIMUM_VECTORS = ATTENTION_HEAD_MAXIMUM_STEPS / 8 };

/* to[width][8 * vectors] from from[steps][width], whose rows are `row` floats apart; zero behind the last
 * step. */
static void transpose(const float *from, size_t steps, size_t width, size_t row, int vectors, float *to) {
    size_t stride = 8 * (size_t)vectors;
    for (size_t i = 0; i < stride; i += 8)
        for (size_t j = 0; j < width; j += 8) {
            __m256 block[8];
            int columns = width - j < 8 ? (int)(width - j) : 8;
            __m256i lanes = vector_first_lanes(columns);
            for (size_t k = 0; k < 8; k++)
                block[k] =
                    i + k < steps ? _mm256_maskload_ps(from + (i + k) * row + j, lanes) : _mm256_setzero_ps();
            vector_transpose(block);
            for (int k = 0; k < columns; k++)
                _mm256_store_ps(to + (j + (size_t)k) * stride + i, block[k]);
        }
}

/* products[vectors] = the row times a transposed matrix. */
static inline __attribute__((always_inline)) void multiply_row(int vectors, const float *row, size_t width,
                                                               const float *transposed, __m256 *products) {
    for (int v = 0; v < vectors; v++)
        products[v] = _mm256_setzero_ps();
    for (size_t j = 0; j < width; j++) {
        __m256 factor = _mm256_broadcast_ss(row + j);
        for (int v = 0; v < vectors; v++)
            products[v] = _mm256_fmadd_ps(factor, _mm256_load_ps(transposed + 8 * v), products[v]);
        transposed += 8 * vectors;
    }
}

/* In place; what is behind the first `keys` becomes 0. */
static inline __attribute__((always_inline)) void softmax(int vectors, const struct attention_head *head,
                                                          size_t keys, __m256 *row) {
    const __m256 scale = _mm256_set1_ps(head->scale), nothing = _mm256_set1_ps(-INFINITY);
    __m256 largest = nothing;
    for (int v = 0; v < vectors; v++) {
        row[v] = _mm256_mul_ps(scale, row[v]);
        if (head->bias != NULL)
            row[v] = _mm256_add_ps(row[v], _mm256_loadu_ps(head->bias + 8 * v));
        __m256i seen = vector_first_lanes((int)keys - 8 * v);
        row[v] = _mm256_blendv_ps(nothing, row[v], _mm256_castsi256_ps(seen));
        largest = _mm256_max_ps(largest, row[v]);
    }
    float shift = vector_largest(largest);
    const __m256 shifts = _mm256_set1_ps(shift == -INFINITY ? 0 : shift);
    __m256 sum = _mm256_setzero_ps();
    for (int v = 0; v < vectors; v++) {
        row[v] = vector_exp(_mm256_sub_ps(row[v], shifts));
        sum = _mm256_add_ps(sum, row[v]);
    }
    float total = vector_sum(sum);
    const __m256 share = _mm256_set1_ps(total > 0 ? 1 / total : 0);
    for (int v = 0; v < vectors; v++)
        row[v] = _mm256_mul_ps(share, row[v]);
}

/* sum[width] = factors[count] times matrix[count][width]: one row. factor_row is the distance of two factors,
 * so that they may be a column. */
static inline void combine_rows(const float *factors, size_t factor_row, size_t count, const float *matrix,
                                size_t row, size_t width, float *sum) {
    for (size_t j = 0; j < width; j += 8) {
        __m256i lanes = vector_first_lanes(width - j < 8 ? (int)(width - j) : 8);
        __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
        size_t k = 0;
        for (; k + 2 <= count; k += 2) {
            even = _mm256_fmadd_ps(_mm256_broadcast_ss(factors + k * factor_row),
                                   _mm256_maskload_ps(matrix + k * row + j, lanes), even);
            odd = _mm256_fmadd_ps(_mm256_broadcast_ss(factors + (k + 1) * factor_row),
                                  _mm256_maskload_ps(matrix + (k + 1) * row + j, lanes), odd);
        }
        if (k < count)
            even = _mm256_fmadd_ps(_mm256_broadcast_ss(factors + k * factor_row),
                                   _mm256_maskload_ps(matrix + k * row + j, lanes), even);
        _mm256_maskstore_ps(sum + j, lanes, _mm256_add_ps(even, odd));
    }
}

static inline __attribute__((always_inline)) void forward(int vectors, const struct attention_head *head,
                                                          float *weights, float *context) {
    _Alignas(32) float keys[ATTENTION_HEAD_MAXIMUM_WIDTH * ATTENTION_HEAD_MAXIMUM_STEPS];
    transpose(head->key, head->steps, head->width, head->row, vectors, keys);
    for (size_t i = 0; i < head->steps; i++) {
        size_t visible = head->is_causal ? i + 1 : head->steps;
        __m256 row[MAXIMUM_VECTORS];
        multiply_row(vectors, head->query + i * head->row, head->width, keys, row);
        softmax(vectors, head, visible, row);
        for (int v = 0; v < vectors; v++)
            _mm256_storeu_ps(weights + i * head->stride + 8 * v, row[v]);
        for (size_t j = 8 * (size_t)vectors; j < head->stride; j += 8)
            _mm256_storeu_ps(weights + i * head->stride + j, _mm256_setzero_ps());
        combine_rows(weights + i * head->stride, 1, visible, head->value, head->row, head->width,
                     context + i * head->row);
    }
}

static inline __attribute__((always_inline)) void backward(int vectors, const struct attention_head *head,
                                                           const float *weights,
                                                           const struct attention_head_gradients *gradients) {
    _Alignas(32) float values[ATTENTION_HEAD_MAXIMUM_WIDTH * ATTENTION_HEAD_MAXIMUM_STEPS];
    size_t steps = head->steps, width = head->width, row = head->row, stride = head->stride;
    const __m256 scale = _mm256_set1_ps(head->scale);
    transpose(head->value, steps, width, row, vectors, values);
    for (size_t i = 0; i < steps; i++) {
        const float *w = weights + i * stride;
        float *to = gradients->scores + i * stride;
        __m256 g[MAXIMUM_VECTORS], sum = _mm256_setzero_ps();
        multiply_row(vectors, gradients->context + i * row, width, values, g);
        for (int v = 0; v < vectors; v++)
            sum = _mm256_fmadd_ps(_mm256_loadu_ps(w + 8 * v), g[v], sum);
        const __m256 mean = _mm256_set1_ps(vector_sum(sum));
        for (int v = 0; v < vectors; v++) {
            __m256 scaled = _mm256_mul_ps(scale, _mm256_loadu_ps(w + 8 * v));
            _mm256_storeu_ps(to + 8 * v, _mm256_mul_ps(scaled, _mm256_sub_ps(g[v], mean)));
        }
        combine_rows(to, 1, head->is_causal ? i + 1 : steps, head->key, row, width,
                     gradients->query + i * row);
    }
    for (size_t j = 0; j < steps; j++) {
        size_t first = head->is_causal ? j : 0, at = first * stride + j;
        combine_rows(gradients->scores + at, stride, steps - first, head->query + first * row, row, width,
                     gradients->key + j * row);
        combine_rows(weights + at, stride, steps - first, gradients->context + first * row, row, width,
                     gradients->value + j * row);
    }
}

void attention_head_forward_avx2(const struct attention_head *head, float *weights, float *context) {
    if (head->steps <= 8)
        forward(1, head, weights, context);
    else if (head->steps <= 16)
        forward(2, head, weights, context);
    else if (head->steps <= 24)
        forward(3, head, weights, context);
    else
        forward(4, head, weights, context);
}

void attention_head_backward_avx2(const struct attention_head *head, const float *weights,
                                  const struct attention_head_gradients *gradients) {
    if (head->steps <= 8)
        backward(1, head, weights, gradients);
    else if (head->steps <= 16)
        backward(2, head, weights, gradients);
    else if (head->steps <= 24)
        backward(3, head, weights, gradients);
    else
        backward(4, head, weights, gradients);
}

#endif
