/* Softmax, in base 2, of scores that a batch shares, over sixteen lanes: see score_kernels.h.
 *
 * Thirty-two registers have room for four rows at a time, so that data common to the rows is read once and
 * their sums are finished together. One row at a time, as over eight lanes, takes 20 % longer forward and 50
 * % longer backward (60 steps, Zen 5). */
#include "core/math/score_kernels.h"

#include "core/math/lanes/elementary.h"

#if LANES == 16

#include <math.h>
#include <string.h>

enum { ROWS = 4 };

/* to[rows][stride] = 2^(s_ij - bound_i) for the rows from `first` on, and sums[ROWS]. `rows` is a constant
 * wherever this is inlined. */
LANES_INLINE void exponentials_of_rows(int rows, const struct shared_scores *scores,
                                       const struct shared_scores_row terms[ROWS], const float *x,
                                       size_t first, float *to, float *sums) {
    size_t stride = scores->stride;
    const float *fixed = scores->fixed + first * stride, *column = scores->column;
    lanes slope[ROWS], gain[ROWS], shift[ROWS], sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) {
        slope[i] = lanes_broadcast(terms[i].slope);
        gain[i] = lanes_broadcast(terms[i].gain);
        /* A row in which nothing is seen has no bound, and exponentials of 0. */
        shift[i] = lanes_broadcast(terms[i].bound == -INFINITY ? 0 : terms[i].bound);
        sum[i] = lanes_zero();
    }
    for (size_t j = 0; j < stride; j += LANES) {
        lanes values = lanes_load(x + j), columns = lanes_load(column + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            lanes score = lanes_subtract(lanes_load(fixed + (size_t)i * stride + j), shift[i]);
            score = lanes_multiply_add(gain[i], columns, lanes_multiply_add(slope[i], values, score));
            lanes power = lanes_exp2(score);
            lanes_store(to + (size_t)i * stride + j, power);
            sum[i] = lanes_add(sum[i], power);
        }
    }
    lanes_sums_of_four(sum, sums);
}

/* Row i with its largest score as the shift, taken from the scores as they are: of large ones other roundings
 * than the largest's own would leave no exponential of 1. Rarely needed, so it stays out of the way. */
static __attribute__((noinline)) float exponentials_below_largest(const struct shared_scores *scores,
                                                                  struct shared_scores_row row,
                                                                  const float *x, size_t i, float *to) {
    const float *fixed = scores->fixed + i * scores->stride;
    lanes slope = lanes_broadcast(row.slope), gain = lanes_broadcast(row.gain);
    lanes largest = lanes_broadcast(-INFINITY), sum = lanes_zero();
    for (size_t j = 0; j < scores->stride; j += LANES) {
        lanes score = lanes_multiply_add(slope, lanes_load(x + j), lanes_load(fixed + j));
        score = lanes_multiply_add(gain, lanes_load(scores->column + j), score);
        lanes_store(to + j, score);
        largest = lanes_maximum(largest, score);
    }
    largest = lanes_broadcast(lanes_largest(largest));
    for (size_t j = 0; j < scores->stride; j += LANES) {
        lanes power = lanes_exp2(lanes_subtract(lanes_load(to + j), largest));
        lanes_store(to + j, power);
        sum = lanes_add(sum, power);
    }
    return lanes_sum(sum);
}

/* Writes some rows of the exponentials and adds their weights to the share. */
LANES_INLINE void attend_rows(int rows, const struct shared_scores *scores, const float *x, float least,
                              float largest, size_t first, float *exponentials, float *inverse_sums,
                              float *share) {
    size_t stride = scores->stride;
    float *to = exponentials + first * stride, sums[ROWS];
    struct shared_scores_row terms[ROWS] = {{0}};
    for (int i = 0; i < rows; i++)
        terms[i] = shared_scores_row_of(scores, x, least, largest, first + (size_t)i);
    exponentials_of_rows(rows, scores, terms, x, first, to, sums);
    for (int i = 0; i < rows; i++)
        if ((terms[i].is_large || sums[i] < shared_scores_least_sum) && terms[i].bound != -INFINITY)
            sums[i] =
                exponentials_below_largest(scores, terms[i], x, first + (size_t)i, to + (size_t)i * stride);
    lanes inverse[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        inverse_sums[first + (size_t)i] = sums[i] == 0 ? 0 : 1 / sums[i];
        inverse[i] = lanes_broadcast(inverse_sums[first + (size_t)i]);
    }
    for (size_t j = 0; j < stride; j += LANES) {
        lanes sum = lanes_load(share + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum = lanes_multiply_add(inverse[i], lanes_load(to + (size_t)i * stride + j), sum);
        lanes_store(share + j, sum);
    }
}

static void range_of(const float *x, size_t stride, float *least, float *largest) {
    lanes low = lanes_load(x), high = low;
    for (size_t j = LANES; j < stride; j += LANES) {
        low = lanes_minimum(low, lanes_load(x + j));
        high = lanes_maximum(high, lanes_load(x + j));
    }
    *least = lanes_least(low);
    *largest = lanes_largest(high);
}

void IN_SET(shared_scores_forward)(const struct shared_scores *scores, const float *x, float *exponentials,
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

/* products[ROWS]: sum_j row_j values_j for each of the rows[rows][stride]. */
LANES_INLINE void dot_rows(int rows, const float *row, const float *values, size_t stride, float *products) {
    lanes sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++)
        sum[i] = lanes_zero();
    for (size_t j = 0; j < stride; j += LANES) {
        lanes factor = lanes_load(values + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
            sum[i] = lanes_multiply_add(lanes_load(row + (size_t)i * stride + j), factor, sum[i]);
    }
    lanes_sums_of_four(sum, products);
}

/* w_ij (g_j - mean_i) as e_ij (inverse_i g_j - inverse_i mean_i). The square of an inverse may overflow. */
LANES_INLINE void go_back_rows(int rows, size_t stride, const float *x, const float *row,
                               const float *inverse_sums, const float *gains, const float *grad_share,
                               float *fixed, struct shared_scores_gradient *gradient, float *grad_row) {
    float means[ROWS], with_x[ROWS];
    dot_rows(rows, row, grad_share, stride, means);
    lanes inverse[ROWS], mean[ROWS], gain[ROWS], sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++)
        sum[i] = lanes_zero();
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        inverse[i] = lanes_broadcast(inverse_sums[i]);
        mean[i] = lanes_broadcast(inverse_sums[i] * (inverse_sums[i] * means[i]));
        gain[i] = lanes_broadcast(gains[i]);
    }
    for (size_t j = 0; j < stride; j += LANES) {
        lanes g = lanes_load(grad_share + j), values = lanes_load(x + j);
        lanes column = lanes_load(gradient->column + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            float *to = fixed + (size_t)i * stride + j;
            lanes change = lanes_multiply(lanes_load(row + (size_t)i * stride + j),
                                          lanes_multiply_subtract(inverse[i], g, mean[i]));
            lanes_store(to, lanes_add(lanes_load(to), change));
            column = lanes_multiply_add(gain[i], change, column);
            sum[i] = lanes_multiply_add(change, values, sum[i]);
        }
        lanes_store(gradient->column + j, column);
    }
    lanes_sums_of_four(sum, with_x);
    for (int i = 0; i < rows; i++) {
        grad_row[i] += with_x[i];
        gradient->square += gains[i] * with_x[i];
    }
}

void IN_SET(shared_scores_backward)(const struct shared_scores *scores, const float *x,
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

#endif
