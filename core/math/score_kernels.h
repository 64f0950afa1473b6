/* The kernels of score_kernels.c, score_kernels_avx2.c and score_kernels_avx512.c, for the tables in
 * kernels.c and kernels_avx2.c; kernels.h says what they compute. */
#ifndef ATTNLAB_CORE_MATH_SCORE_KERNELS_H
#define ATTNLAB_CORE_MATH_SCORE_KERNELS_H

#include "core/math/shared_scores.h"

#define DECLARE_SCORE_KERNELS(suffix)                                                                        \
    void shared_scores_forward_##suffix(const struct shared_scores *scores, const float *x,                  \
                                        float *exponentials, float *inverse_sums, float *share);             \
    void shared_scores_backward_##suffix(const struct shared_scores *scores, const float *x,                 \
                                         const float *exponentials, const float *inverse_sums,               \
                                         const float *grad_share, struct shared_scores_gradient *gradient);  \
    void tilted_moments_##suffix(const float *values, size_t count, const float *tilts, size_t tilt_count,   \
                                 float *means, float *variances);

DECLARE_SCORE_KERNELS(plain)
DECLARE_SCORE_KERNELS(avx2)
DECLARE_SCORE_KERNELS(avx512)

/* The smallest and largest of values[count], count > 0. */
static inline void score_kernels_range(const float *values, size_t count, float *least, float *largest) {
    *least = *largest = values[0];
    for (size_t j = 1; j < count; j++) {
        *least = values[j] < *least ? values[j] : *least;
        *largest = values[j] > *largest ? values[j] : *largest;
    }
}

#endif
