/* ReLU and the exact GELU, number by number, as torch.nn.ReLU and torch.nn.GELU.
 *
 * GELU (Hendrycks and Gimpel 2016): x Phi(x), with Phi the normal distribution by erf, not by its tanh
 * approximation. */
#ifndef ATTNLAB_CORE_LAYERS_ACTIVATION_H
#define ATTNLAB_CORE_LAYERS_ACTIVATION_H

#include "core/layers/layer.h"

extern const struct layer_type layer_relu;
extern const struct layer_type layer_gelu;

/* output[count] from input[count]; they may be the same. */
void activation_forward(enum activation activation, const float *input, float *output, size_t count,
                        const struct kernels *kernels);

/* grad_input[count] from the input of the forward pass (ReLU: or its output) and grad_output[count]; may be
 * grad_output. */
void activation_backward(enum activation activation, const float *input, const float *grad_output,
                         float *grad_input, size_t count, const struct kernels *kernels);

#endif
