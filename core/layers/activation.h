/* Elementwise ReLU and exact GELU, like torch.nn.ReLU and torch.nn.GELU.
 *
 * GELU (Hendrycks and Gimpel 2016) is x Phi(x), where Phi is the normal distribution function, computed with
 * erf and not with the tanh approximation. */
#ifndef ATTNLAB_CORE_LAYERS_ACTIVATION_H
#define ATTNLAB_CORE_LAYERS_ACTIVATION_H

#include "core/layers/layer.h"

extern const struct layer_type layer_relu;
extern const struct layer_type layer_gelu;

/* Computes output[count] from input[count]; they may be the same array. */
void activation_forward(enum activation activation, const float *input, float *output, size_t count,
                        const struct kernels *kernels);

/* Computes grad_input[count] from grad_output[count] and the forward pass's input (for ReLU, its output will
 * also do). grad_input may be the same array as grad_output. */
void activation_backward(enum activation activation, const float *input, const float *grad_output,
                         float *grad_input, size_t count, const struct kernels *kernels);

#endif
