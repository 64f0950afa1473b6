/* What a transformer block does beside products and attention: residual sums, layer norm, ReLU. Called
 * through core/math/kernels.h; the plain version is what tests compare the one for AVX2 with. */
#ifndef ATTNLAB_CORE_MATH_BLOCK_KERNELS_H
#define ATTNLAB_CORE_MATH_BLOCK_KERNELS_H

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

/* The moments are PyTorch's RowwiseMoments: Welford's method in eight lanes side by side, which are then
 * merged (Chan, Golub and LeVeque 1979), to the bit up to 128 numbers; and y = (x f + s) weight + bias, with
 * both products fused with their sums, as PyTorch has it. The two versions give the same bits. */
void layer_norm_forward_plain(const struct norm_rows *rows, float *output);
void layer_norm_forward_avx2(const struct norm_rows *rows, float *output);

/* With n = (x - mean) / deviation and g = weight * grad_output the gradient of a row is
 * (g - mean(g) - n mean(g n)) / deviation. grad_input (NULL: not wanted) may be grad_output; grad_weight and
 * grad_bias (both NULL: not wanted) are added to. */
void layer_norm_backward_plain(const struct norm_rows *rows, const float *grad_output, float *grad_input,
                               float *grad_weight, float *grad_bias);
void layer_norm_backward_avx2(const struct norm_rows *rows, const float *grad_output, float *grad_input,
                              float *grad_weight, float *grad_bias);

/* The merging of lanes divides by numbers that depend on the width alone: lane k is merged with `share[k]`,
 * and its mean's difference counts `seen[k] * share[k]` times. */
enum { NORM_LANES = 8 };
struct norm_merge {
    float share[NORM_LANES], seen[NORM_LANES];
};
struct norm_merge norm_merge_of(size_t width);

/* sum_i += value_i */
void add_values_plain(float *sum, const float *values, size_t count);
void add_values_avx2(float *sum, const float *values, size_t count);

/* output_i = max(input_i, 0); they may be the same. */
void relu_plain(const float *input, float *output, size_t count);
void relu_avx2(const float *input, float *output, size_t count);

/* result_i = gradient_i where value_i > 0, the input or the output of the ReLU, else 0. */
void relu_backward_plain(const float *values, const float *gradient, float *result, size_t count);
void relu_backward_avx2(const float *values, const float *gradient, float *result, size_t count);

#endif
