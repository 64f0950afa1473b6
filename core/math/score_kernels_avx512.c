/* The kernels of score_kernels.c for processors with AVX-512: sixteen numbers at a time and, since what is
 * common to rows is read once and their sums are finished together, four rows at a time. */
#include "core/math/score_kernels.h"

#if defined(__AVX512F__)

#include "core/math/vector_avx512.h"

#include <math.h>
#include <string.h>

enum { LANES = 16, ROWS = 4 };

/* to[rows][stride] = 2^(s_ij - bound_i) for the rows from `first` on; returns their sums. `rows` is a
 * constant wherever this is inlined. */
static inline __attribute__((always_inline)) __m128
exponentials_of_rows(int rows, const struct shared_scores *scores, const struct shared_scores_row terms[ROWS],
                     const float *x, size_t first, float *to) {
    size_t stride = scores->stride;
    const float *fixed = scores->fixed + first * stride, *column = scores->column;
    __m512 slope[ROWS], gain[ROWS], shift[ROWS], sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) {
        slope[i] = _mm512_set1_ps(terms[i].slope);
        gain[i] = _mm512_set1_ps(terms[i].gain);
        /* A row in which nothing is seen has no bound, and exponentials of 0. */
        shift[i] = _mm512_set1_ps(terms[i].bound == -INFINITY ? 0 : terms[i].bound);
        sum[i] = _mm512_setzero_ps();
    }
    for (size_t j = 0; j < stride; j += LANES) {
        __m512 values = _mm512_loadu_ps(x + j), columns = _mm512_loadu_ps(column + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            __m512 score = _mm512_sub_ps(_mm512_loadu_ps(fixed + (size_t)i * stride + j), shift[i]);
            score = _mm512_fmadd_ps(gain[i], columns, _mm512_fmadd_ps(slope[i], values, score));
            __m512 power = vector16_exp2(score);
            _mm512_storeu_ps(to + (size_t)i * stride + j, power);
            sum[i] = _mm512_add_ps(sum[i], power);
        }
    }
    return vector16_sums_of_four(sum[0], sum[1], sum[2], sum[3]);
}

/* Row i with its largest score as the shift, taken from the scores as they are: of large ones other roundings
 * than the largest's own would leave no exponential of 1. Rarely needed, so it stays out of the way. */
static __attribute__((noinline)) float exponentials_below_largest(const struct shared_scores *scores,
                                                                  struct shared_scores_row row,
                                                                  const float *x, size_t i, float *to) {
    const float *fixed = scores->fixed + i * scores->stride;
    __m512 slope = _mm512_set1_ps(row.slope), gain = _mm512_set1_ps(row.gain);
    __m512 largest = _mm512_set1_ps(-INFINITY), sum = _mm512_setzero_ps();
    for (size_t j = 0; j < scores->stride; j += LANES) {
        __m512 score = _mm512_fmadd_ps(slope, _mm512_loadu_ps(x + j), _mm512_loadu_ps(fixed + j));
        score = _mm512_fmadd_ps(gain, _mm512_loadu_ps(scores->column + j), score);
        _mm512_storeu_ps(to + j, score);
        largest = _mm512_max_ps(largest, score);
    }
    largest = _mm512_set1_ps(_mm512_reduce_max_ps(largest));
    for (size_t j = 0; j < scores->stride; j += LANES) {
        __m512 power = vector16_exp2(_mm512_sub_ps(_mm512_loadu_ps(to + j), largest));
        _mm512_storeu_ps(to + j, power);
        sum = _mm512_add_ps(sum, power);
    }
    return _mm512_reduce_add_ps(sum);
}

/* Leaves some rows of the exponentials and adds their weights to the share. */
static inline __attribute__((always_inline)) void attend_rows(int rows, const struct shared_scores *scores,
                                                              const float *x, float least, float largest,
                                                              size_t first, float *exponentials,
                                                              float *inverse_sums, float *share) {
    size_t stride = scores->stride;
    float *to = exponentials + first * stride, sums[ROWS];
    struct shared_scores_row terms[ROWS] = {{0}};
    for (int i = 0; i < rows; i++)
        terms[i] = shared_scores_row_of(scores, x, least, largest, first + (size_t)i);
    _mm_storeu_ps(sums, exponentials_of_rows(rows, scores, terms, x, first, to));
    for (int i = 0; i < rows; i++)
        if ((terms[i].is_large || sums[i] < shared_scores_least_sum) && terms[i].bound != -INFINITY)
            sums[i] =
                exponentials_below_largest(scores, terms[i], x, first + (size_t)i, to + (size_t)i * stride);
    __m512 inverse[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        inverse_sums[first + (size_t)i] = sums[i] == 0 ? 0 : 1 / sums[i];
        inverse[i] = _mm512_set1_ps(inverse_sums[first + (size_t)i]);
    }
    for (size_t j = 0; j < stride; j += LANES) {
        __m512 sum = _mm512_loadu_ps(share + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum = _mm512_fmadd_ps(inverse[i], _mm512_loadu_ps(to + (size_t)i * stride + j), sum);
        _mm512_storeu_ps(share + j, sum);
    }
}

static void range_of(const float *x, size_t stride, float *least, float *largest) {
    __m512 low = _mm512_loadu_ps(x), high = low;
    for (size_t j = LANES; j < stride; j += LANES) {
        low = _mm512_min_ps(low, _mm512_loadu_ps(x + j));
        high = _mm512_max_ps(high, _mm512_loadu_ps(x + j));
    }
    *least = _mm512_reduce_min_ps(low);
    *largest = _mm512_reduce_max_ps(high);
}

void shared_scores_forward_avx512(const struct shared_scores *scores, const float *x, float *exponentials,
                                  float *inverse_sums, float *share) {
    float least, largest;
    size_t i = 0;
    range_of(x, scores->stride, &least, &largest);
    memset(share, 0, scores->stride * sizeof *share);
    for (; i + ROWS <= scores->steps; i += ROWS)
        attend_rows(ROWS, scores, x, least, largest, i, exponentials, inverse_sums, share);
    for (; i < scores->steps; i++)
        attend_rows(1, scores, x, least, largest, i, exponentials, inverse_sums, share);
}

/* sum_j row_j values_j for each of the rows[rows][stride]. */
static inline __attribute__((always_inline)) __m128 dot_rows(int rows, const float *row, const float *values,
                                                             size_t stride) {
    __m512 sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++)
        sum[i] = _mm512_setzero_ps();
    for (size_t j = 0; j < stride; j += LANES) {
        __m512 factor = _mm512_loadu_ps(values + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] = _mm512_fmadd_ps(_mm512_loadu_ps(row + (size_t)i * stride + j), factor, sum[i]);
    }
    return vector16_sums_of_four(sum[0], sum[1], sum[2], sum[3]);
}

/* w_ij (g_j - mean_i) as e_ij (inverse_i g_j - inverse_i mean_i). The square of an inverse may overflow. */
static inline __attribute__((always_inline)) void
go_back_rows(int rows, size_t stride, const float *x, const float *row, const float *inverse_sums,
             const float *gains, const float *grad_share, float *fixed,
             struct shared_scores_gradient *gradient, float *grad_row) {
    float means[ROWS], with_x[ROWS];
    _mm_storeu_ps(means, dot_rows(rows, row, grad_share, stride));
    __m512 inverse[ROWS], mean[ROWS], gain[ROWS], sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++)
        sum[i] = _mm512_setzero_ps();
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        inverse[i] = _mm512_set1_ps(inverse_sums[i]);
        mean[i] = _mm512_set1_ps(inverse_sums[i] * (inverse_sums[i] * means[i]));
        gain[i] = _mm512_set1_ps(gains[i]);
    }
    for (size_t j = 0; j < stride; j += LANES) {
        __m512 g = _mm512_loadu_ps(grad_share + j), values = _mm512_loadu_ps(x + j);
        __m512 column = _mm512_loadu_ps(gradient->column + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            float *to = fixed + (size_t)i * stride + j;
            __m512 change = _mm512_mul_ps(_mm512_loadu_ps(row + (size_t)i * stride + j),
                                          _mm512_fmsub_ps(inverse[i], g, mean[i]));
            _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), change));
            column = _mm512_fmadd_ps(gain[i], change, column);
            sum[i] = _mm512_fmadd_ps(change, values, sum[i]);
        }
        _mm512_storeu_ps(gradient->column + j, column);
    }
    _mm_storeu_ps(with_x, vector16_sums_of_four(sum[0], sum[1], sum[2], sum[3]));
    for (int i = 0; i < rows; i++) {
        grad_row[i] += with_x[i];
        gradient->square += gains[i] * with_x[i];
    }
}

void shared_scores_backward_avx512(const struct shared_scores *scores, const float *x,
                                   const float *exponentials, const float *inverse_sums,
                                   const float *grad_share, struct shared_scores_gradient *gradient) {
    size_t stride = scores->stride, i = 0;
    for (; i + ROWS <= scores->steps; i += ROWS)
        go_back_rows(ROWS, stride, x, exponentials + i * stride, inverse_sums + i, x + i, grad_share,
                     gradient->fixed + i * stride, gradient, gradient->row + i);
    for (; i < scores->steps; i++)
        go_back_rows(1, stride, x, exponentials + i * stride, inverse_sums + i, x + i, grad_share,
                     gradient->fixed + i * stride, gradient, gradient->row + i);
}

/* The sums over the values for sixteen tilts at once, one in each lane. */
void tilted_moments_avx512(const float *values, size_t count, const float *tilts, size_t tilt_count,
                           float *means, float *variances) {
    float least, largest;
    score_kernels_range(values, count, &least, &largest);
    for (size_t i = 0; i < tilt_count; i += LANES) {
        size_t left = tilt_count - i;
        __m512 tilt = vector16_load_first(tilts + i, left);
        __mmask16 is_positive = _mm512_cmp_ps_mask(tilt, _mm512_setzero_ps(), _CMP_GT_OQ);
        __m512 centre = _mm512_mask_blend_ps(is_positive, _mm512_set1_ps(least), _mm512_set1_ps(largest));
        __m512 sum = _mm512_setzero_ps(), first = sum, second = sum;
        for (size_t j = 0; j < count; j++) {
            __m512 difference = _mm512_sub_ps(_mm512_set1_ps(values[j]), centre);
            __m512 weight = vector16_exp2(_mm512_mul_ps(tilt, difference));
            __m512 weighted = _mm512_mul_ps(weight, difference);
            sum = _mm512_add_ps(sum, weight);
            first = _mm512_add_ps(first, weighted);
            second = _mm512_fmadd_ps(weighted, difference, second);
        }
        __m512 mean = _mm512_div_ps(first, sum);
        __m512 variance = _mm512_sub_ps(_mm512_div_ps(second, sum), _mm512_mul_ps(mean, mean));
        vector16_store_first(means + i, left, _mm512_add_ps(centre, mean));
        vector16_store_first(variances + i, left, variance);
    }
}

#endif
