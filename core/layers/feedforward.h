/* The feed-forward part of a transformer: Linear, activation, Linear, applied to each step separately.
 *
 * It equals torch.nn.Sequential(Linear(width, hidden), ReLU or GELU, Linear(hidden, width)) and has the same
 * parameter names. It exists as a layer and as functions for the encoder block. */
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

/* `saved` holds [rows][hidden] after the activation; for GELU also before it, because its gradient needs
 * that. */
size_t feedforward_saved_size(const struct feedforward_shape *shape);
void feedforward_forward(const struct feedforward_shape *shape, const float *parameters, const float *input,
                         float *output, float *saved, const struct kernels *kernels);

/* Overwrites grad_input, or adds to it if `accumulate_input` is true; in that case it may be the same array
 * as grad_output, as for a residual connection. Adds to grad_parameters. Either may be NULL.
 * grad_hidden[rows][hidden] is working memory. */
void feedforward_backward(const struct feedforward_shape *shape, const float *parameters, const float *input,
                          const float *saved, const float *grad_output, float *grad_hidden, float *grad_input,
                          bool accumulate_input, float *grad_parameters, const struct kernels *kernels);

#endif
