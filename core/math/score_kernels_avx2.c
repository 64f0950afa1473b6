/* The kernels of score_kernels.c for processors with AVX2. */
#include "core/math/score_kernels.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>
#include <string.h>

enum { LANES = 8 };

/* Eight scores of a row, less its shift. */
struct row_terms {
    const float *fixed, *x, *column;
    __m256 slope, gain, shift;
};

static inline struct row_terms terms_of_row(const struct shared_scores *scores, struct shared_scores_row row,
                                            const float *x, size_t i, float shift) {
    return (struct row_terms){scores->fixed + i * scores->stride,
                              x,
                              scores->column,
                              _mm256_set1_ps(row.slope),
                              _mm256_set1_ps(row.gain),
                              _mm256_set1_ps(shift)};
}

static inline __m256 scores_at(struct row_terms row, size_t j) {
    __m256 score = _mm256_sub_ps(_mm256_loadu_ps(row.fixed + j), row.shift);
    score = _mm256_fmadd_ps(row.slope, _mm256_loadu_ps(row.x + j), score);
    return _mm256_fmadd_ps(row.gain, _mm256_loadu_ps(row.column + j), score);
}

/* The terms come by value: through a pointer they would be read again after every store. */
static inline __attribute__((always_inline)) float exponentials_of_row(struct row_terms row, size_t stride,
                                                                       float *exponentials) {
    __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += 2 * LANES) {
        __m256 a = vector_exp2(scores_at(row, j)), b = vector_exp2(scores_at(row, j + LANES));
        _mm256_storeu_ps(exponentials + j, a);
        _mm256_storeu_ps(exponentials + j + LANES, b);
        even = _mm256_add_ps(even, a);
        odd = _mm256_add_ps(odd, b);
    }
    return vector_sum(_mm256_add_ps(even, odd));
}

/* The same with the row's largest score as the shift, taken from the scores as they are: of large ones other
 * roundings than the largest's own would leave no exponential of 1. Rarely needed, so it stays out of the
 * way. */
static __attribute__((noinline)) float exponentials_below_largest(struct row_terms row, size_t stride,
                                                                  float *exponentials) {
    __m256 largest = _mm256_set1_ps(-INFINITY), sum = _mm256_setzero_ps();
    row.shift = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += LANES) {
        __m256 score = scores_at(row, j);
        _mm256_storeu_ps(exponentials + j, score);
        largest = _mm256_max_ps(largest, score);
    }
    largest = _mm256_set1_ps(vector_largest(largest));
    for (size_t j = 0; j < stride; j += LANES) {
        __m256 a = vector_exp2(_mm256_sub_ps(_mm256_loadu_ps(exponentials + j), largest));
        _mm256_storeu_ps(exponentials + j, a);
        sum = _mm256_add_ps(sum, a);
    }
    return vector_sum(sum);
}

/* Leaves row i of the exponentials; returns 1 / its sum. */
static inline float exponentiate_row(const struct shared_scores *scores, const float *x, float x_least,
                                     float x_largest, size_t i, float *exponentials) {
    float *to = exponentials + i * scores->stride;
    struct shared_scores_row row = shared_scores_row_of(scores, x, x_least, x_largest, i);
    struct row_terms terms = terms_of_row(scores, row, x, i, row.bound == -INFINITY ? 0 : row.bound);
    float sum = row.is_large ? 0 : exponentials_of_row(terms, scores->stride, to);
    if (sum < shared_scores_least_sum && row.bound != -INFINITY)
        sum = exponentials_below_largest(terms, scores->stride, to);
    return sum == 0 ? 0 : 1 / sum;
}

static void range_of(const float *x, size_t stride, float *least, float *largest) {
    __m256 low = _mm256_loadu_ps(x), high = low;
    for (size_t j = LANES; j < stride; j += LANES) {
        low = _mm256_min_ps(low, _mm256_loadu_ps(x + j));
        high = _mm256_max_ps(high, _mm256_loadu_ps(x + j));
    }
    *least = -vector_largest(_mm256_xor_ps(low, _mm256_set1_ps(-0.0F)));
    *largest = vector_largest(high);
}

static inline __m256 add_scaled(__m256 sum, float factor, const float *row) {
    return _mm256_fmadd_ps(_mm256_set1_ps(factor), _mm256_loadu_ps(row), sum);
}

/* Four rows at a time, so that the shares are read and written a quarter as often. */
void shared_scores_forward_avx2(const struct shared_scores *scores, const float *x, float *exponentials,
                                float *inverse_sums, float *share) {
    size_t stride = scores->stride, i = 0;
    float least, largest;
    range_of(x, stride, &least, &largest);
    memset(share, 0, stride * sizeof *share);
    for (; i + 4 <= scores->steps; i += 4) {
        const float *row = exponentials + i * stride, *inverse = inverse_sums + i;
        for (size_t k = i; k < i + 4; k++)
            inverse_sums[k] = exponentiate_row(scores, x, least, largest, k, exponentials);
        for (size_t j = 0; j < stride; j += LANES) {
            __m256 sum = add_scaled(_mm256_loadu_ps(share + j), inverse[0], row + j);
            sum = add_scaled(sum, inverse[1], row + stride + j);
            sum = add_scaled(sum, inverse[2], row + 2 * stride + j);
            _mm256_storeu_ps(share + j, add_scaled(sum, inverse[3], row + 3 * stride + j));
        }
    }
    for (; i < scores->steps; i++) {
        inverse_sums[i] = exponentiate_row(scores, x, least, largest, i, exponentials);
        for (size_t j = 0; j < stride; j += LANES)
            _mm256_storeu_ps(share + j, add_scaled(_mm256_loadu_ps(share + j), inverse_sums[i],
                                                   exponentials + i * stride + j));
    }
}

/* sum_j a_j b_j, in two chains. */
static inline float dot(const float *a, const float *b, size_t stride) {
    __m256 even = _mm256_setzero_ps(), odd = _mm256_setzero_ps();
    for (size_t j = 0; j < stride; j += 2 * LANES) {
        even = _mm256_fmadd_ps(_mm256_loadu_ps(a + j), _mm256_loadu_ps(b + j), even);
        odd = _mm256_fmadd_ps(_mm256_loadu_ps(a + j + LANES), _mm256_loadu_ps(b + j + LANES), odd);
    }
    return vector_sum(_mm256_add_ps(even, odd));
}

void shared_scores_backward_avx2(const struct shared_scores *scores, const float *x,
                                 const float *exponentials, const float *inverse_sums,
                                 const float *grad_share, struct shared_scores_gradient *gradient) {
    size_t stride = scores->stride;
    float *column = gradient->column;
    for (size_t i = 0; i < scores->steps; i++) {
        const float *row = exponentials + i * stride;
        float *fixed = gradient->fixed + i * stride;
        const __m256 inverse = _mm256_set1_ps(inverse_sums[i]), gain = _mm256_set1_ps(x[i]);
        const __m256 mean = _mm256_set1_ps(inverse_sums[i] * dot(row, grad_share, stride));
        __m256 sum = _mm256_setzero_ps();
        for (size_t j = 0; j < stride; j += LANES) {
            __m256 weight = _mm256_mul_ps(inverse, _mm256_loadu_ps(row + j));
            __m256 change = _mm256_mul_ps(weight, _mm256_sub_ps(_mm256_loadu_ps(grad_share + j), mean));
            _mm256_storeu_ps(fixed + j, _mm256_add_ps(_mm256_loadu_ps(fixed + j), change));
            _mm256_storeu_ps(column + j, _mm256_fmadd_ps(gain, change, _mm256_loadu_ps(column + j)));
            sum = _mm256_fmadd_ps(change, _mm256_loadu_ps(x + j), sum);
        }
        float with_x = vector_sum(sum);
        gradient->row[i] += with_x;
        gradient->square += x[i] * with_x;
    }
}

/* The sums over the values for eight tilts at once, one in each lane. */
struct tilted_sums {
    __m256 weight, first, second;
};

static inline void add_value(struct tilted_sums *sums, __m256 value, __m256 centre, __m256 tilt) {
    __m256 difference = _mm256_sub_ps(value, centre);
    __m256 weight = vector_exp2(_mm256_mul_ps(tilt, difference));
    __m256 weighted = _mm256_mul_ps(weight, difference);
    sums->weight = _mm256_add_ps(sums->weight, weight);
    sums->first = _mm256_add_ps(sums->first, weighted);
    sums->second = _mm256_fmadd_ps(weighted, difference, sums->second);
}

void tilted_moments_avx2(const float *values, size_t count, const float *tilts, size_t tilt_count,
                         float *means, float *variances) {
    float least, largest;
    score_kernels_range(values, count, &least, &largest);
    for (size_t i = 0; i < tilt_count; i += 8) {
        __m256i lanes = vector_first_lanes(tilt_count - i < 8 ? (int)(tilt_count - i) : 8);
        __m256 tilt = _mm256_maskload_ps(tilts + i, lanes);
        __m256 is_positive = _mm256_cmp_ps(tilt, _mm256_setzero_ps(), _CMP_GT_OQ);
        __m256 centre = _mm256_blendv_ps(_mm256_set1_ps(least), _mm256_set1_ps(largest), is_positive);
        struct tilted_sums sums = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps()};
        for (size_t j = 0; j < count; j++)
            add_value(&sums, _mm256_broadcast_ss(values + j), centre, tilt);
        __m256 mean = _mm256_div_ps(sums.first, sums.weight);
        __m256 variance = _mm256_sub_ps(_mm256_div_ps(sums.second, sums.weight), _mm256_mul_ps(mean, mean));
        _mm256_maskstore_ps(means + i, lanes, _mm256_add_ps(centre, mean));
        _mm256_maskstore_ps(variances + i, lanes, variance);
    }
}

#endif
