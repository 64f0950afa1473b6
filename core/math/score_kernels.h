/* Scores that a batch shares (score_kernels.c over eight lanes, wide_score_kernels.c over sixteen) and
 * moments under tilted weights (moment_kernels.c); struct kernels describes the kernels. */
#ifndef ATTNLAB_CORE_MATH_SCORE_KERNELS_H
#define ATTNLAB_CORE_MATH_SCORE_KERNELS_H

#include "core/math/lanes/sets.h"
#include "core/math/shared_scores.h"

#define DECLARE_SCORE_KERNELS(set)                                                                           \
    void shared_scores_forward_##set(const struct shared_scores *scores, const float *x,                     \
                                     float *exponentials, float *inverse_sums, float *share);                \
    void shared_scores_backward_##set(const struct shared_scores *scores, const float *x,                    \
                                      const float *exponentials, const float *inverse_sums,                  \
                                      const float *grad_share, struct shared_scores_gradient *gradient);     \
    void tilted_moments_##set(const float *values, size_t count, const float *tilts, size_t tilt_count,      \
                              float *means, float *variances);

FOR_EVERY_SET(DECLARE_SCORE_KERNELS)

/* The smallest and largest of values[count], count > 0. */
static inline void score_kernels_range(const float *values, size_t count, float *least, float *largest) {
    *least = *largest = values[0];
    for (size_t j = 1; j < count; j++) {
        *least = values[j] < *least ? values[j] : *least;
        *largest = values[j] > *largest ? values[j] : *largest;
    }
}

#endif
