/* Softmax (in base 2) of scores that a batch shares, and moments under tilted weights: the plain versions of
 * the kernels in kernels.h. Exponentials are taken of differences to an upper bound of the row, so they stay
 * below 1. */
#include "core/math/score_kernels.h"

#include <math.h>
#include <string.h>

static float score_at(const struct shared_scores *scores, struct shared_scores_row row, const float *x,
                      size_t i, size_t j) {
    return scores->fixed[i * scores->stride + j] + row.slope * x[j] + row.gain * scores->column[j];
}

/* to[stride] = 2^(s_ij - shift); returns the sum. */
static float exponentials_of_row(const struct shared_scores *scores, struct shared_scores_row row,
                                 const float *x, size_t i, float shift, float *to) {
    float sum = 0;
    for (size_t j = 0; j < scores->stride; j++)
        sum += to[j] = exp2f(score_at(scores, row, x, i, j) - shift);
    return sum;
}

/* The same with the row's largest score as the shift, taken from the scores as they are: of large ones other
 * roundings than the largest's own would leave no exponential of 1. */
static float exponentials_below_largest(const struct shared_scores *scores, struct shared_scores_row row,
                                        const float *x, size_t i, float *to) {
    float largest = -INFINITY, sum = 0;
    for (size_t j = 0; j < scores->stride; j++) {
        to[j] = score_at(scores, row, x, i, j);
        largest = fmaxf(largest, to[j]);
    }
    for (size_t j = 0; j < scores->stride; j++)
        sum += to[j] = exp2f(to[j] - largest);
    return sum;
}

void shared_scores_forward_plain(const struct shared_scores *scores, const float *x, float *exponentials,
                                 float *inverse_sums, float *share) {
    float least, largest;
    score_kernels_range(x, scores->stride, &least, &largest);
    memset(share, 0, scores->stride * sizeof *share);
    for (size_t i = 0; i < scores->steps; i++) {
        float *to = exponentials + i * scores->stride;
        struct shared_scores_row row = shared_scores_row_of(scores, x, least, largest, i);
        float sum = row.is_large
                        ? 0
                        : exponentials_of_row(scores, row, x, i, row.bound == -INFINITY ? 0 : row.bound, to);
        if (sum < shared_scores_least_sum && row.bound != -INFINITY)
            sum = exponentials_below_largest(scores, row, x, i, to);
        inverse_sums[i] = sum == 0 ? 0 : 1 / sum;
        for (size_t j = 0; j < scores->stride; j++)
            share[j] += inverse_sums[i] * to[j];
    }
}

void shared_scores_backward_plain(const struct shared_scores *scores, const float *x,
                                  const float *exponentials, const float *inverse_sums,
                                  const float *grad_share, struct shared_scores_gradient *gradient) {
    size_t stride = scores->stride;
    for (size_t i = 0; i < scores->steps; i++) {
        const float *row = exponentials + i * stride;
        float mean = 0, with_x = 0;
        for (size_t j = 0; j < stride; j++)
            mean += row[j] * grad_share[j];
        mean *= inverse_sums[i];
        for (size_t j = 0; j < stride; j++) {
            float change = inverse_sums[i] * row[j] * (grad_share[j] - mean);
            gradient->fixed[i * stride + j] += change;
            gradient->column[j] += x[i] * change;
            with_x += change * x[j];
        }
        gradient->row[i] += with_x;
        gradient->square += x[i] * with_x;
    }
}

void tilted_moments_plain(const float *values, size_t count, const float *tilts, size_t tilt_count,
                          float *means, float *variances) {
    float least, largest;
    score_kernels_range(values, count, &least, &largest);
    for (size_t i = 0; i < tilt_count; i++) {
        /* Around the value with the largest weight: nothing overflows, and the variance cancels least. */
        float centre = tilts[i] > 0 ? largest : least, sum = 0, first = 0, second = 0;
        for (size_t j = 0; j < count; j++) {
            float difference = values[j] - centre, weight = exp2f(tilts[i] * difference);
            sum += weight;
            first += weight * difference;
            second += weight * difference * difference;
        }
        float mean = first / sum;
        means[i] = centre + mean;
        variances[i] = second / sum - mean * mean;
    }
}
