/* Layer normalisation over the features of every step (Ba, Kiros and Hinton 2016), as torch.nn.LayerNorm.
 *
 * y = (x - mean) / sqrt(variance + 1e-5) * weight + bias, with the variance over n, not n - 1. */
#ifndef ATTNLAB_CORE_LAYERS_LAYER_NORM_H
#define ATTNLAB_CORE_LAYERS_LAYER_NORM_H

#include "core/layers/layer.h"

/* Tensors: weight [width] (ones), bias [width] (zeros); nothing is drawn. */
extern const struct layer_type layer_layer_norm;

/* output[rows][width] from input[rows][width]; statistics[rows][2] keeps the mean and 1 / deviation of each
 * row for the backward pass. */
void layer_norm_forward(const float *weight, const float *bias, const float *input, float *output,
                        float *statistics, size_t rows, size_t width, const struct kernels *kernels);

/* grad_input (NULL: not wanted) is overwritten and may be grad_output; grad_weight and grad_bias (both NULL:
 * not wanted) are added to. */
void layer_norm_backward(const float *weight, const float *input, float *statistics, const float *grad_output,
                         float *grad_input, float *grad_weight, float *grad_bias, size_t rows, size_t width,
                         const struct kernels *kernels);

/* Ones and zeros. */
void layer_norm_initialise(float *weight, float *bias, size_t width);

#endif
