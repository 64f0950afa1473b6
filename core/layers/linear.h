/* y = x W^T + b for each row, like torch.nn.Linear: as a layer, and as functions for composite layers. */
#ifndef ATTNLAB_CORE_LAYERS_LINEAR_H
#define ATTNLAB_CORE_LAYERS_LINEAR_H

#include "core/layers/layer.h"

/* Maps every step: [count][steps][input.width] to [count][steps][width]. Tensors: weight
 * [width][input.width], bias [width]. */
extern const struct layer_type layer_linear;

/* output[rows][outputs] = input[rows][inputs] weight[outputs][inputs]^T + bias[outputs]. */
void linear_forward(const float *weight, const float *bias, const float *input, float *output, size_t rows,
                    size_t inputs, size_t outputs);

/* Adds to grad_weight and grad_bias. Overwrites grad_input, or adds to it if `accumulate_input` is true. Each
 * of them may be NULL. */
void linear_backward(const float *weight, const float *input, const float *grad_output, float *grad_input,
                     bool accumulate_input, float *grad_weight, float *grad_bias, size_t rows, size_t inputs,
                     size_t outputs);

/* Draws first the weight, then the bias, uniformly between -1/sqrt(inputs) and 1/sqrt(inputs). */
void linear_initialise(float *weight, float *bias, size_t inputs, size_t outputs,
                       struct torch_generator *generator);

#endif
