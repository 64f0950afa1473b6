/* ReLU and GELU: see activation.h. */
#include "core/layers/activation.h"

#include <math.h>

static const float inverse_sqrt_2 = 0.70710678118654752440f;
static const float inverse_sqrt_2_pi = 0.39894228040143267794f;

void activation_forward(enum activation activation, const float *input, float *output, size_t count,
                        const struct kernels *kernels) {
    if (activation == ACTIVATION_RELU) {
        kernels->relu(input, output, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        output[i] = input[i] * 0.5f * (1 + erff(input[i] * inverse_sqrt_2));
}

void activation_backward(enum activation activation, const float *input, const float *grad_output,
                         float *grad_input, size_t count, const struct kernels *kernels) {
    if (activation == ACTIVATION_RELU) {
        kernels->relu_backward(input, grad_output, grad_input, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        float x = input[i];
        float distribution = 0.5f * (1 + erff(x * inverse_sqrt_2));
        float density = expf(-0.5f * x * x) * inverse_sqrt_2_pi;
        grad_input[i] = grad_output[i] * (distribution + x * density);
    }
}

static size_t number_count(const struct layer *layer, const struct layer_pass *pass) {
    return pass->count * layer->input.steps * layer->input.width;
}

static enum activation activation_of(const struct layer *layer) {
    return layer->type == &layer_gelu ? ACTIVATION_GELU : ACTIVATION_RELU;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    (void)parameters;
    (void)saved;
    activation_forward(activation_of(layer), input, output, number_count(layer, pass), pass->kernels);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)parameters;
    (void)output;
    (void)saved;
    (void)grad_parameters;
    if (grad_input != NULL)
        activation_backward(activation_of(layer), input, grad_output, grad_input, number_count(layer, pass),
                            pass->kernels);
}

const struct layer_type layer_relu = {
    .name = "ReLU",
    .output_shape = layer_same_shape,
    .forward = forward,
    .backward = backward,
};

const struct layer_type layer_gelu = {
    .name = "GELU",
    .output_shape = layer_same_shape,
    .forward = forward,
    .backward = backward,
};
