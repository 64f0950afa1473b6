/* y = x W^T + b over rows, as torch.nn.Linear: the layer, and its two halves for layers made of others. */
#ifndef ATTNLAB_CORE_LAYERS_LINEAR_H
#define ATTNLAB_CORE_LAYERS_LINEAR_H

#include "core/layers/layer.h"

/* A layer over every step: [count][steps][input.width] to [count][steps][width]. Tensors: weight
 * [width][input.width], bias [width]. */
extern const struct layer_type layer_linear;

/* output[rows][outputs] = input[rows][inputs] weight[outputs][inputs]^T + bias[outputs]. */
void linear_forward(const float *weight, const float *bias, const float *input, float *output, size_t rows,
                    size_t inputs, size_t outputs);

/* grad_weight and grad_bias are added to, or NULL; grad_input is overwritten, or added to where
 * `accumulate_input`, or NULL. */
void linear_backward(const float *weight, const float *input, const float *grad_output, float *grad_input,
                     bool accumulate_input, float *grad_weight, float *grad_bias, size_t rows, size_t inputs,
                     size_t outputs);

/* Draws weight and bias uniformly from +-1/sqrt(inputs), the weight first. */
void linear_initialise(float *weight, float *bias, size_t inputs, size_t outputs,
                       struct torch_generator *generator);

#endif
