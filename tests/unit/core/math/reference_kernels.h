/* The kernels of core/math/kernels.h as plain loops over the C library's functions, for reading and for
 * comparing: every set of lanes must agree with them up to a few units in the last place. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_MATH_REFERENCE_KERNELS_H
#define ATTNLAB_TESTS_UNIT_CORE_MATH_REFERENCE_KERNELS_H

#include "core/math/attention_head.h"
#include "core/math/kernels.h"
#include "core/math/lanes/sets.h"
#include "core/math/score_kernels.h"
#include "core/math/tile_kernels.h"

extern const struct kernels kernels_reference;

/* The parts of the table that reference_attention_kernels.c defines. */
void reference_attention_head_forward(const struct attention_head *head, float *weights, float *context);
void reference_attention_head_backward(const struct attention_head *head, const float *weights,
                                       const struct attention_head_gradients *gradients);
void reference_tile_softmax(const struct tile *tile, float *largest, float *sums);
void reference_tile_weights(const struct tile *tile, const struct row_softmax *rows);
void reference_tile_weights_and_means(const struct tile *tile, const struct row_softmax *rows,
                                      const float *gradient, size_t gradient_stride, float *means);
void reference_tile_backward(const struct tile *tile, const float *gradient, size_t gradient_stride,
                             const float *means);
void reference_shared_scores_forward(const struct shared_scores *scores, const float *x, float *exponentials,
                                     float *inverse_sums, float *share);
void reference_shared_scores_backward(const struct shared_scores *scores, const float *x,
                                      const float *exponentials, const float *inverse_sums,
                                      const float *grad_share, struct shared_scores_gradient *gradient);
void reference_tilted_moments(const float *values, size_t count, const float *tilts, size_t tilt_count,
                              float *means, float *variances);

/* The tables that this processor runs, the fastest first; returns how many there are. */
enum { KERNELS_LISTED = 4 };
size_t kernels_list(const struct kernels *tables[KERNELS_LISTED]);

#endif
