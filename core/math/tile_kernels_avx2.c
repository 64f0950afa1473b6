/* Softmax in tiles, for processors with AVX2: see tile_kernels.h. */
#include "core/math/tile_kernels.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>

static __m256i lanes_at(size_t j, size_t count) {
    return vector_first_lanes(count - j < 8 ? (int)(count - j) : 8);
}

/* The largest scaled score of a row, and of `before`. */
static float largest_of(const float *row, size_t columns, float scale, float before) {
    const __m256 nothing = _mm256_set1_ps(-INFINITY), factor = _mm256_set1_ps(scale);
    __m256 largest = _mm256_set1_ps(before);
    for (size_t j = 0; j < columns; j += 8) {
        __m256i lanes = lanes_at(j, columns);
        __m256 score = _mm256_mul_ps(factor, _mm256_maskload_ps(row + j, lanes));
        largest = _mm256_max_ps(largest, _mm256_blendv_ps(nothing, score, _mm256_castsi256_ps(lanes)));
    }
    return vector_largest(largest);
}

/* Scores become e^(scale s - shift); returns their sum weighted by weights[columns], or by 1 where it is
 * NULL. */
static float exponentiate(float *row, size_t columns, float scale, float shift, const float *weights) {
    const __m256 factor = _mm256_set1_ps(scale), shifts = _mm256_set1_ps(shift);
    __m256 sum = _mm256_setzero_ps();
    for (size_t j = 0; j < columns; j += 8) {
        __m256i lanes = lanes_at(j, columns);
        __m256 x = vector_exp(_mm256_fmsub_ps(factor, _mm256_maskload_ps(row + j, lanes), shifts));
        x = _mm256_and_ps(x, _mm256_castsi256_ps(lanes));
        _mm256_maskstore_ps(row + j, lanes, x);
        sum = weights == NULL ? _mm256_add_ps(sum, x)
                              : _mm256_fmadd_ps(x, _mm256_maskload_ps(weights + j, lanes), sum);
    }
    return vector_sum(sum);
}

void tile_softmax_avx2(const struct tile *tile, float *largest, float *sums) {
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride, before = largest[i];
        largest[i] = largest_of(row, tile->columns, tile->scale, before);
        float shift = largest[i] == -INFINITY ? 0 : largest[i];
        sums[i] = sums[i] * expf(before - shift) + exponentiate(row, tile->columns, tile->scale, shift, NULL);
    }
}

void tile_weights_avx2(const struct tile *tile, const float *normaliser) {
    for (size_t i = 0; i < tile->rows; i++)
        exponentiate(tile->values + i * tile->stride, tile->columns, tile->scale, normaliser[i], NULL);
}

void tile_weights_and_means_avx2(const struct tile *tile, const float *normaliser, const float *gradient,
                                 float *means) {
    for (size_t i = 0; i < tile->rows; i++)
        means[i] += exponentiate(tile->values + i * tile->stride, tile->columns, tile->scale, normaliser[i],
                                 gradient);
}

void tile_backward_avx2(const struct tile *tile, const float *gradient, size_t gradient_stride,
                        const float *means) {
    const __m256 scale = _mm256_set1_ps(tile->scale);
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride;
        const float *g = gradient + i * gradient_stride;
        const __m256 mean = _mm256_set1_ps(means[i]);
        for (size_t j = 0; j < tile->columns; j += 8) {
            __m256i lanes = lanes_at(j, tile->columns);
            __m256 difference = _mm256_sub_ps(_mm256_maskload_ps(g + j, lanes), mean);
            difference = _mm256_mul_ps(scale, difference);
            _mm256_maskstore_ps(row + j, lanes,
                                _mm256_mul_ps(difference, _mm256_maskload_ps(row + j, lanes)));
        }
    }
}

#endif
