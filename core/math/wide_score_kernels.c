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

/* The terms of some rows of scores: s_ij = fixed_ij + slope_i x_j + gain_i column_j. */
struct row_terms {
    const float *fixed, *x, *column;
    lanes slope[ROWS], gain[ROWS];
};

LANES_INLINE struct row_terms terms_of_rows(int rows, const struct shared_scores *scores, const float *x,
                                            size_t first) {
    struct row_terms terms = {
        .fixed = scores->fixed + first * scores->stride, .x = x, .column = scores->column};
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        float value = x[first + (size_t)i];
        terms.gain[i] = lanes_broadcast(value);
        terms.slope[i] = lanes_broadcast(scores->square * value + scores->row[first + (size_t)i]);
    }
    return terms;
}

/* largest[rows] = the rows' largest scores. */
LANES_INLINE void largest_of_rows(int rows, struct row_terms terms, size_t stride, float *largest) {
    lanes most[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++)
        most[i] = lanes_broadcast(-INFINITY);
    for (size_t j = 0; j < stride; j += LANES) {
        lanes values = lanes_load(terms.x + j), columns = lanes_load(terms.column + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            lanes score =
                lanes_multiply_add(terms.slope[i], values, lanes_load(terms.fixed + (size_t)i * stride + j));
            score = lanes_multiply_add(terms.gain[i], columns, score);
            most[i] = lanes_maximum(most[i], score);
        }
    }
    for (int i = 0; i < rows; i++)
        largest[i] = lanes_largest(most[i]);
}

/* to[rows][stride] = 2^(score - largest_i); sums[ROWS] are the rows' sums. */
LANES_INLINE void exponentials_of_rows(int rows, struct row_terms terms, size_t stride, const float *largest,
                                       float *to, float *sums) {
    lanes shift[ROWS], sum[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++)
        sum[i] = lanes_zero();
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        shift[i] = lanes_broadcast(largest[i] == -INFINITY ? 0 : largest[i]);
    for (size_t j = 0; j < stride; j += LANES) {
        lanes values = lanes_load(terms.x + j), columns = lanes_load(terms.column + j);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            lanes score =
                lanes_multiply_add(terms.slope[i], values, lanes_load(terms.fixed + (size_t)i * stride + j));
            score = lanes_multiply_add(terms.gain[i], columns, score);
            lanes power = lanes_exp2(lanes_subtract(score, shift[i]));
            lanes_store(to + (size_t)i * stride + j, power);
            sum[i] = lanes_add(sum[i], power);
        }
    }
    lanes_sums_of_four(sum, sums);
}

/* Writes some rows of the exponentials and adds their weights to the share. */
LANES_INLINE void attend_rows(int rows, const struct shared_scores *scores, const float *x, size_t first,
                              float *exponentials, float *inverse_sums, float *share) {
    size_t stride = scores->stride;
    float *to = exponentials + first * stride, largest[ROWS], sums[ROWS];
    struct row_terms terms = terms_of_rows(rows, scores, x, first);
    largest_of_rows(rows, terms, stride, largest);
    exponentials_of_rows(rows, terms, stride, largest, to, sums);
    lanes inverse[ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        inverse_sums[first + (size_t)i] = shared_scores_inverse(scores, first + (size_t)i, sums[i]);
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

void IN_SET(shared_scores_forward)(const struct shared_scores *scores, const float *x, float *exponentials,
                                   float *inverse_sums, float *share) {
    size_t i = 0;
    memset(share, 0, scores->stride * sizeof *share);
    for (; i + ROWS <= scores->steps; i += ROWS)
        attend_rows(ROWS, scores, x, i, exponentials, inverse_sums, share);
    for (; i < scores->steps; i++)
        attend_rows(1, scores, x, i, exponentials, inverse_sums, share);
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

/* w_ij (g_j - mean_i) as e_ij (inverse_i g_j - inverse_i mean_i): exactly 0 where w_ij is exactly 1. */
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
