/* Attention over single numbers for processors with AVX2: see scalar_attention.h. */
#include "core/math/scalar_attention.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>
#include <string.h>

/* The scores of one row into `row`; returns the largest. */
static float compute_scores(const float *x, const float *key_part, const float *offset, float value,
                            float slope, float *row, size_t stride) {
    const __m256 s = _mm256_set1_ps(slope), v = _mm256_set1_ps(value);
    __m256 largest = _mm256_set1_ps(-INFINITY);
    for (size_t j = 0; j < stride; j += 8) {
        __m256 score = _mm256_fmadd_ps(v, _mm256_loadu_ps(key_part + j), _mm256_loadu_ps(offset + j));
        score = _mm256_fmadd_ps(s, _mm256_loadu_ps(x + j), score);
        largest = _mm256_max_ps(largest, score);
        _mm256_storeu_ps(row + j, score);
    }
    return vector_largest(largest);
}

/* Two chains at once: each exp waits long for its own steps. */
static float exponentiate(float *row, size_t stride, float largest) {
    const __m256 shift = _mm256_set1_ps(largest);
    __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
    size_t j = 0;
    for (; j + 16 <= stride; j += 16) {
        __m256 a = vector_exp(_mm256_sub_ps(_mm256_loadu_ps(row + j), shift));
        __m256 b = vector_exp(_mm256_sub_ps(_mm256_loadu_ps(row + j + 8), shift));
        _mm256_storeu_ps(row + j, a);
        _mm256_storeu_ps(row + j + 8, b);
        even = _mm256_add_ps(even, a);
        odd = _mm256_add_ps(odd, b);
    }
    if (j < stride) {
        __m256 a = vector_exp(_mm256_sub_ps(_mm256_loadu_ps(row + j), shift));
        _mm256_storeu_ps(row + j, a);
        even = _mm256_add_ps(even, a);
    }
    return vector_sum(_mm256_add_ps(even, odd));
}

void scalar_attention_forward_avx2(const struct scalar_scores *scores, const float *x, float *weights,
                                   float *share) {
    size_t stride = scores->stride;
    memset(share, 0, stride * sizeof *share);
    for (size_t i = 0; i < scores->steps; i++) {
        float *row = weights + i * stride;
        float largest = compute_scores(x, scores->key_part, scores->offset + i * stride, x[i],
                                       scores->square * x[i] + scores->query_part[i], row, stride);
        float sum = exponentiate(row, stride, largest == -INFINITY ? 0 : largest);
        const __m256 factor = _mm256_set1_ps(sum > 0 ? 1 / sum : 0);
        for (size_t j = 0; j < stride; j += 8) {
            __m256 w = _mm256_mul_ps(factor, _mm256_loadu_ps(row + j));
            _mm256_storeu_ps(row + j, w);
            _mm256_storeu_ps(share + j, _mm256_add_ps(w, _mm256_loadu_ps(share + j)));
        }
    }
}

static float dot(const float *a, const float *b, size_t stride) {
    __m256 sum = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += 8)
        sum = _mm256_fmadd_ps(_mm256_loadu_ps(a + j), _mm256_loadu_ps(b + j), sum);
    return vector_sum(sum);
}

/* One row's part in the gradients of d and b; returns sum_j dS_ij x_j. */
static float add_row(const float *x, const float *row, const float *a, float mean, float value,
                     float *grad_key, float *grad_offset, size_t stride) {
    const __m256 m = _mm256_set1_ps(mean), v = _mm256_set1_ps(value);
    __m256 sum = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += 8) {
        __m256 g = _mm256_mul_ps(_mm256_loadu_ps(row + j), _mm256_sub_ps(_mm256_loadu_ps(a + j), m));
        sum = _mm256_fmadd_ps(g, _mm256_loadu_ps(x + j), sum);
        _mm256_storeu_ps(grad_offset + j, _mm256_add_ps(g, _mm256_loadu_ps(grad_offset + j)));
        _mm256_storeu_ps(grad_key + j, _mm256_fmadd_ps(v, g, _mm256_loadu_ps(grad_key + j)));
    }
    return vector_sum(sum);
}

static float sum_row(const float *x, const float *row, const float *a, float mean, size_t stride) {
    const __m256 m = _mm256_set1_ps(mean);
    __m256 sum = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += 8) {
        __m256 g = _mm256_mul_ps(_mm256_loadu_ps(row + j), _mm256_sub_ps(_mm256_loadu_ps(a + j), m));
        sum = _mm256_fmadd_ps(g, _mm256_loadu_ps(x + j), sum);
    }
    return vector_sum(sum);
}

/* The keys' share of the gradient of x; returns sum_j dS_ij b_j. */
static float add_grad_x(const float *row, const float *a, float mean, float slope, const float *key_part,
                        float *grad_x, size_t stride) {
    const __m256 m = _mm256_set1_ps(mean), s = _mm256_set1_ps(slope);
    __m256 sum = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += 8) {
        __m256 g = _mm256_mul_ps(_mm256_loadu_ps(row + j), _mm256_sub_ps(_mm256_loadu_ps(a + j), m));
        _mm256_storeu_ps(grad_x + j, _mm256_fmadd_ps(g, s, _mm256_loadu_ps(grad_x + j)));
        sum = _mm256_fmadd_ps(g, _mm256_loadu_ps(key_part + j), sum);
    }
    return vector_sum(sum);
}

void scalar_attention_backward_avx2(const struct scalar_scores *scores, const float *x, const float *weights,
                                    const float *a, struct scalar_score_gradients *gradients, float *grad_x) {
    size_t stride = scores->stride;
    for (size_t i = 0; i < scores->steps; i++) {
        const float *row = weights + i * stride;
        float mean = dot(row, a, stride);
        float with_x = gradients->offset == NULL ? sum_row(x, row, a, mean, stride)
                                                 : add_row(x, row, a, mean, x[i], gradients->key_part,
                                                           gradients->offset + i * stride, stride);
        gradients->query_part[i] += with_x;
        gradients->square += x[i] * with_x;
        if (grad_x != NULL) {
            float slope = scores->square * x[i] + scores->query_part[i];
            grad_x[i] +=
                scores->square * with_x + add_grad_x(row, a, mean, slope, scores->key_part, grad_x, stride);
        }
    }
}

#endif
