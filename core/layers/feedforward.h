/* The feed-forward part of a transformer: Linear, activation, Linear, at every step by itself.
 *
 * As torch.nn.Sequential(Linear(width, hidden), ReLU or GELU, Linear(hidden, width)), whose parameter names
 * it has; a layer, and its two halves for the encoder block. */
#ifndef ATTNLAB_CORE_LAYERS_FEEDFORWARD_H
#define ATTNLAB_CORE_LAYERS_FEEDFORWARD_H

#include "core/layers/layer.h"

/* Options: feedforward_width, activation. Tensors: 0.weight [hidden][width], 0.bias, 2.weight
 * [width][hidden], 2.bias. */
extern const struct layer_type layer_feedforward;

struct feedforward_shape {
    size_t rows, width, hidden;
    enum activation activation;
};

size_t feedforward_parameter_count(size_t width, size_t hidden);
void feedforward_initialise(float *parameters, size_t width, size_t hidden,
                            struct torch_generator *generator);

/* saved[rows][hidden] after the activation; for GELU, whose gradient needs it, before the activation too. */
size_t feedforward_saved_size(const struct feedforward_shape *shape);
void feedforward_forward(const struct feedforward_shape *shape, const float *parameters, const float *input,
                         float *output, float *saved, const struct kernels *kernels);

/* grad_hidden[rows][hidden] is working memory. grad_input (NULL: not wanted) is overwritten, or added to
 * where `accumulate_input`; it may then be grad_output itself, as a residual connection has it.
 * grad_parameters (NULL: not wanted) is added to. */
void feedforward_backward(const struct feedforward_shape *shape, const float *parameters, const float *input,
                          const float *saved, const float *grad_output, float *grad_hidden, float *grad_input,
                          bool accumulate_input, float *grad_parameters, const struct kernels *kernels);

#endif
