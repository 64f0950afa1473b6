/* Layer normalisation over the features of each step (Ba, Kiros and Hinton 2016), like torch.nn.LayerNorm.
 *
 * y = (x - mean) / sqrt(variance + 1e-5) * weight + bias; the variance divides by n, not by n - 1. */
#ifndef ATTNLAB_CORE_LAYERS_LAYER_NORM_H
#define ATTNLAB_CORE_LAYERS_LAYER_NORM_H

#include "core/layers/layer.h"

/* Tensors: weight [width] (ones), bias [width] (zeros); nothing is drawn. */
extern const struct layer_type layer_layer_norm;

/* Computes output[rows][width] from input[rows][width]; keeps the mean and 1 / deviation of each row in
 * statistics[rows][2] for the backward pass. */
void layer_norm_forward(const float *weight, const float *bias, const float *input, float *output,
                        float *statistics, size_t rows, size_t width, const struct kernels *kernels);

/* Overwrites grad_input, which may be NULL or the same array as grad_output. Adds to grad_weight and
 * grad_bias, unless both are NULL. */
void layer_norm_backward(const float *weight, const float *input, float *statistics, const float *grad_output,
                         float *grad_input, float *grad_weight, float *grad_bias, size_t rows, size_t width,
                         const struct kernels *kernels);

/* Sets the weight to ones and the bias to zeros. */
void layer_norm_initialise(float *weight, float *bias, size_t width);

#endif
