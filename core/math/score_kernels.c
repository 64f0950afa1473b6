/* Softmax, in base 2, of scores that a batch shares, over eight lanes: see score_kernels.h. */
#include "core/math/score_kernels.h"

#include "core/math/lanes/elementary.h"

#if LANES == 8

#include <math.h>
#include <string.h>

/* to[stride] = the scores of row i; returns the largest. */
static inline float scores_of_row(const struct shared_scores *scores, const float *x, size_t i, float *to) {
    const float *fixed = scores->fixed + i * scores->stride;
    const lanes gain = lanes_broadcast(x[i]), slope = lanes_broadcast(scores->square * x[i] + scores->row[i]);
    lanes even = lanes_broadcast(-INFINITY), odd = even;
    for (size_t j = 0; j < scores->stride; j += 2 * LANES) {
        lanes a = lanes_multiply_add(slope, lanes_load(x + j), lanes_load(fixed + j));
        lanes b = lanes_multiply_add(slope, lanes_load(x + j + LANES), lanes_load(fixed + j + LANES));
        a = lanes_multiply_add(gain, lanes_load(scores->column + j), a);
        b = lanes_multiply_add(gain, lanes_load(scores->column + j + LANES), b);
        lanes_store(to + j, a);
        lanes_store(to + j + LANES, b);
        even = lanes_maximum(even, a);
        odd = lanes_maximum(odd, b);
    }
    return lanes_largest(lanes_maximum(even, odd));
}

/* Replaces scores by 2^(score - shift); returns their sum. */
static inline float exponentials_of_row(float *row, size_t stride, float shift) {
    const lanes shifts = lanes_broadcast(shift);
    lanes even = lanes_zero(), odd = lanes_zero();
    for (size_t j = 0; j < stride; j += 2 * LANES) {
        lanes a = lanes_exp2(lanes_subtract(lanes_load(row + j), shifts));
        lanes b = lanes_exp2(lanes_subtract(lanes_load(row + j + LANES), shifts));
        lanes_store(row + j, a);
        lanes_store(row + j + LANES, b);
        even = lanes_add(even, a);
        odd = lanes_add(odd, b);
    }
    return lanes_sum(lanes_add(even, odd));
}

/* Writes row i of the exponentials; returns 1 / its sum. */
static inline float exponentiate_row(const struct shared_scores *scores, const float *x, size_t i,
                                     float *exponentials) {
    float *to = exponentials + i * scores->stride;
    float largest = scores_of_row(scores, x, i, to);
    float sum = exponentials_of_row(to, scores->stride, largest == -INFINITY ? 0 : largest);
    return shared_scores_inverse(scores, i, sum);
}

static inline lanes add_scaled(lanes sum, float factor, const float *row) {
    return lanes_multiply_add(lanes_broadcast(factor), lanes_load(row), sum);
}

/* Takes four rows at a time, so that it reads and writes the shares a quarter as often. */
void IN_SET(shared_scores_forward)(const struct shared_scores *scores, const float *x, float *exponentials,
                                   float *inverse_sums, float *share) {
    size_t stride = scores->stride, i = 0;
    memset(share, 0, stride * sizeof *share);
    for (; i + 4 <= scores->steps; i += 4) {
        const float *row = exponentials + i * stride, *inverse = inverse_sums + i;
        for (size_t k = i; k < i + 4; k++)
            inverse_sums[k] = exponentiate_row(scores, x, k, exponentials);
        for (size_t j = 0; j < stride; j += LANES) {
            lanes sum = add_scaled(lanes_load(share + j), inverse[0], row + j);
            sum = add_scaled(sum, inverse[1], row + stride + j);
            sum = add_scaled(sum, inverse[2], row + 2 * stride + j);
            lanes_store(share + j, add_scaled(sum, inverse[3], row + 3 * stride + j));
        }
    }
    for (; i < scores->steps; i++) {
        inverse_sums[i] = exponentiate_row(scores, x, i, exponentials);
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
