/* Softmax, in base 2, of scores that a batch shares, over eight lanes: see score_kernels.h. */
#include "core/math/score_kernels.h"

#include "core/math/lanes/elementary.h"

#if LANES == 8

#include <math.h>
#include <string.h>

/* The scores of a row minus its shift. */
struct row_terms {
    const float *fixed, *x, *column;
    lanes slope, gain, shift;
};

static inline struct row_terms terms_of_row(const struct shared_scores *scores, struct shared_scores_row row,
                                            const float *x, size_t i, float shift) {
    return (struct row_terms){scores->fixed + i * scores->stride,
                              x,
                              scores->column,
                              lanes_broadcast(row.slope),
                              lanes_broadcast(row.gain),
                              lanes_broadcast(shift)};
}

static inline lanes scores_at(struct row_terms row, size_t j) {
    lanes score = lanes_subtract(lanes_load(row.fixed + j), row.shift);
    score = lanes_multiply_add(row.slope, lanes_load(row.x + j), score);
    return lanes_multiply_add(row.gain, lanes_load(row.column + j), score);
}

/* Takes the terms by value: through a pointer the compiler would reload them after every store. */
LANES_INLINE float exponentials_of_row(struct row_terms row, size_t stride, float *exponentials) {
    lanes even = lanes_zero(), odd = lanes_zero();
    for (size_t j = 0; j < stride; j += 2 * LANES) {
        lanes a = lanes_exp2(scores_at(row, j)), b = lanes_exp2(scores_at(row, j + LANES));
        lanes_store(exponentials + j, a);
        lanes_store(exponentials + j + LANES, b);
        even = lanes_add(even, a);
        odd = lanes_add(odd, b);
    }
    return lanes_sum(lanes_add(even, odd));
}

/* The same with the row's largest score as the shift, taken from the scores as they are: of large ones other
 * roundings than the largest's own would leave no exponential of 1. Rarely needed, so it stays out of the
 * way. */
static __attribute__((noinline)) float exponentials_below_largest(struct row_terms row, size_t stride,
                                                                  float *exponentials) {
    lanes largest = lanes_broadcast(-INFINITY), sum = lanes_zero();
    row.shift = lanes_zero();
    for (size_t j = 0; j < stride; j += LANES) {
        lanes score = scores_at(row, j);
        lanes_store(exponentials + j, score);
        largest = lanes_maximum(largest, score);
    }
    largest = lanes_broadcast(lanes_largest(largest));
    for (size_t j = 0; j < stride; j += LANES) {
        lanes a = lanes_exp2(lanes_subtract(lanes_load(exponentials + j), largest));
        lanes_store(exponentials + j, a);
        sum = lanes_add(sum, a);
    }
    return lanes_sum(sum);
}

/* Writes row i of the exponentials; returns 1 / its sum. */
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
    lanes low = lanes_load(x), high = low;
    for (size_t j = LANES; j < stride; j += LANES) {
        low = lanes_minimum(low, lanes_load(x + j));
        high = lanes_maximum(high, lanes_load(x + j));
    }
    *least = lanes_least(low);
    *largest = lanes_largest(high);
}

static inline lanes add_scaled(lanes sum, float factor, const float *row) {
    return lanes_multiply_add(lanes_broadcast(factor), lanes_load(row), sum);
}

/* Takes four rows at a time, so that it reads and writes the shares a quarter as often. */
void IN_SET(shared_scores_forward)(const struct shared_scores *scores, const float *x, float *exponentials,
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
            lanes sum = add_scaled(lanes_load(share + j), inverse[0], row + j);
            sum = add_scaled(sum, inverse[1], row + stride + j);
            sum = add_scaled(sum, inverse[2], row + 2 * stride + j);
            lanes_store(share + j, add_scaled(sum, inverse[3], row + 3 * stride + j));
        }
    }
    for (; i < scores->steps; i++) {
        inverse_sums[i] = exponentiate_row(scores, x, least, largest, i, exponentials);
        for (size_t j = 0; j < stride; j += LANES)
            lanes_store(share + j,
                        add_scaled(lanes_load(share + j), inverse_sums[i], exponentials + i * stride + j));
    }
}

/* sum_j a_j b_j, in two chains. */
static inline float dot(const float *a, const float *b, size_t stride) {
    lanes even = lanes_zero(), odd = lanes_zero();
    for (size_t j = 0; j < stride; j += 2 * LANES) {
        even = lanes_multiply_add(lanes_load(a + j), lanes_load(b + j), even);
        odd = lanes_multiply_add(lanes_load(a + j + LANES), lanes_load(b + j + LANES), odd);
    }
    return lanes_sum(lanes_add(even, odd));
}

void IN_SET(shared_scores_backward)(const struct shared_scores *scores, const float *x,
                                    const float *exponentials, const float *inverse_sums,
                                    const float *grad_share, struct shared_scores_gradient *gradient) {
    size_t stride = scores->stride;
    float *column = gradient->column;
    for (size_t i = 0; i < scores->steps; i++) {
        const float *row = exponentials + i * stride;
        float *fixed = gradient->fixed + i * stride;
        const lanes inverse = lanes_broadcast(inverse_sums[i]), gain = lanes_broadcast(x[i]);
        const lanes mean = lanes_broadcast(inverse_sums[i] * dot(row, grad_share, stride));
        lanes sum = lanes_zero();
        for (size_t j = 0; j < stride; j += LANES) {
            lanes weight = lanes_multiply(inverse, lanes_load(row + j));
            lanes change = lanes_multiply(weight, lanes_subtract(lanes_load(grad_share + j), mean));
            lanes_store(fixed + j, lanes_add(lanes_load(fixed + j), change));
            lanes_store(column + j, lanes_multiply_add(gain, change, lanes_load(column + j)));
            sum = lanes_multiply_add(change, lanes_load(x + j), sum);
        }
        float with_x = lanes_sum(sum);
        gradient->row[i] += with_x;
        gradient->square += x[i] * with_x;
    }
}

#endif
