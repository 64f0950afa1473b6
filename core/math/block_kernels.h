/* The parts of a transformer block besides products and attention: residual sums, layer norm, ReLU. Called
 * through core/math/kernels.h. */
#ifndef ATTNLAB_CORE_MATH_BLOCK_KERNELS_H
#define ATTNLAB_CORE_MATH_BLOCK_KERNELS_H

#include "core/math/lanes/sets.h"

#include <stddef.h>

/* PyTorch's epsilon of a layer norm. */
#define LAYER_NORM_EPSILON 1e-5F

/* Layer norm over rows[count][width]; statistics[count][2]: mean and 1 / deviation of each. */
struct norm_rows {
    size_t count, width;
    const float *weight, *bias; /* [width] */
    const float *input;
    float *statistics;
};

/* Forward computes the moments like PyTorch's RowwiseMoments: Welford's method in eight lanes, which are then
 * merged (Chan, Golub and LeVeque 1979), with identical bits up to 128 numbers. Then y = (x f + s) weight +
 * bias with fused multiply-adds, as in PyTorch. All sets give the same bits.
 *
 * Backward, with n = (x - mean) / deviation and g = weight * grad_output, the gradient of a row is
 * (g - mean(g) - n mean(g n)) / deviation. grad_input may be NULL or the same array as grad_output. Adds to
 * grad_weight and grad_bias, unless both are NULL.
 *
 * add_values: sum_i += value_i. relu: output_i = max(input_i, 0); both may be the same array. relu_backward:
 * result_i = gradient_i if value_i > 0, else 0; value is the input or the output of the ReLU. */
#define DECLARE_BLOCK_KERNELS(set)                                                                           \
    void layer_norm_forward_##set(const struct norm_rows *rows, float *output);                              \
    void layer_norm_backward_##set(const struct norm_rows *rows, const float *grad_output,                   \
                                   float *grad_input, float *grad_weight, float *grad_bias);                 \
    void add_values_##set(float *sum, const float *values, size_t count);                                    \
    void relu_##set(const float *input, float *output, size_t count);                                        \
    void relu_backward_##set(const float *values, const float *gradient, float *result, size_t count);

FOR_SETS_OF_EIGHT(DECLARE_BLOCK_KERNELS)

#endif
