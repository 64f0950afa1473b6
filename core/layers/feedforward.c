/* The feed-forward part of a transformer: see feedforward.h. */
#include "core/layers/feedforward.h"

#include "core/layers/activation.h"
#include "core/layers/linear.h"

/* Offsets of the four consecutive tensors. */
struct offsets {
    size_t first_bias, second_weight, second_bias, end;
};

static struct offsets offsets_of(size_t width, size_t hidden) {
    struct offsets offsets;
    offsets.first_bias = hidden * width;
    offsets.second_weight = offsets.first_bias + hidden;
    offsets.second_bias = offsets.second_weight + width * hidden;
    offsets.end = offsets.second_bias + width;
    return offsets;
}

size_t feedforward_parameter_count(size_t width, size_t hidden) {
    return offsets_of(width, hidden).end;
}

void feedforward_initialise(float *parameters, size_t width, size_t hidden,
                            struct torch_generator *generator) {
    struct offsets at = offsets_of(width, hidden);
    linear_initialise(parameters, parameters + at.first_bias, width, hidden, generator);
    linear_initialise(parameters + at.second_weight, parameters + at.second_bias, hidden, width, generator);
}

size_t feedforward_saved_size(const struct feedforward_shape *shape) {
    return (shape->activation == ACTIVATION_RELU ? 1 : 2) * shape->rows * shape->hidden;
}

/* Returns the values before the activation. ReLU works in place, so for it they share the array. */
static size_t inactive_offset(const struct feedforward_shape *shape) {
    return shape->activation == ACTIVATION_RELU ? 0 : shape->rows * shape->hidden;
}

void feedforward_forward(const struct feedforward_shape *shape, const float *parameters, const float *input,
                         float *output, float *saved, const struct kernels *kernels) {
    struct offsets at = offsets_of(shape->width, shape->hidden);
    float *active = saved, *hidden = saved + inactive_offset(shape);
    linear_forward(parameters, parameters + at.first_bias, input, hidden, shape->rows, shape->width,
                   shape->hidden);
    activation_forward(shape->activation, hidden, active, shape->rows * shape->hidden, kernels);
    linear_forward(parameters + at.second_weight, parameters + at.second_bias, active, output, shape->rows,
                   shape->hidden, shape->width);
}

void feedforward_backward(const struct feedforward_shape *shape, const float *parameters, const float *input,
                          const float *saved, const float *grad_output, float *grad_hidden, float *grad_input,
                          bool accumulate_input, float *grad_parameters, const struct kernels *kernels) {
    struct offsets at = offsets_of(shape->width, shape->hidden);
    const float *active = saved, *hidden = saved + inactive_offset(shape);
    bool wanted = grad_parameters != NULL;
    linear_backward(parameters + at.second_weight, active, grad_output, grad_hidden, false,
                    wanted ? grad_parameters + at.second_weight : NULL,
                    wanted ? grad_parameters + at.second_bias : NULL, shape->rows, shape->hidden,
                    shape->width);
    activation_backward(shape->activation, hidden, grad_hidden, grad_hidden, shape->rows * shape->hidden,
                        kernels);
    linear_backward(parameters, input, grad_hidden, grad_input, accumulate_input, grad_parameters,
                    wanted ? grad_parameters + at.first_bias : NULL, shape->rows, shape->width,
                    shape->hidden);
}

static struct feedforward_shape shape_of(const struct layer *layer, size_t count) {
    return (struct feedforward_shape){count * layer->input.steps, layer->input.width,
                                      layer->options.feedforward_width, layer->options.activation};
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0, width = layer->input.width, hidden = layer->options.feedforward_width;
    tensor_describe(tensors, &count, "0.weight", hidden, width);
    tensor_describe(tensors, &count, "0.bias", hidden, 0);
    tensor_describe(tensors, &count, "2.weight", width, hidden);
    tensor_describe(tensors, &count, "2.bias", width, 0);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    feedforward_initialise(parameters, layer->input.width, layer->options.feedforward_width, generator);
}

static size_t saved_size(const struct layer *layer, size_t count) {
    struct feedforward_shape shape = shape_of(layer, count);
    return feedforward_saved_size(&shape);
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    return count * layer->input.steps * layer->options.feedforward_width;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    struct feedforward_shape shape = shape_of(layer, pass->count);
    feedforward_forward(&shape, parameters, input, output, saved, pass->kernels);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    struct feedforward_shape shape = shape_of(layer, pass->count);
    feedforward_backward(&shape, parameters, input, saved, grad_output, pass->scratch, grad_input, false,
                         grad_parameters, pass->kernels);
}

const struct layer_type layer_feedforward = {
    .name = "feed-forward",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
