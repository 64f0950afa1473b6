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

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)width;
    (void)options;
    return input;
}

static size_t number_count(const struct layer *layer, const struct layer_pass *pass) {
    return pass->count * layer->input.steps * layer->input.width;
}

static void relu_forward(const struct layer *layer, const float *parameters, const float *input,
                         float *output, float *saved, const struct layer_pass *pass) {
    (void)parameters;
    (void)saved;
    activation_forward(ACTIVATION_RELU, input, output, number_count(layer, pass), pass->kernels);
}

static void relu_backward(const struct layer *layer, const float *parameters, const float *input,
                          const float *output, float *saved, float *grad_output, float *grad_input,
                          float *grad_parameters, const struct layer_pass *pass) {
    (void)parameters;
    (void)output;
    (void)saved;
    (void)grad_parameters;
    if (grad_input != NULL)
        activation_backward(ACTIVATION_RELU, input, grad_output, grad_input, number_count(layer, pass),
                            pass->kernels);
}

static void gelu_forward(const struct layer *layer, const float *parameters, const float *input,
                         float *output, float *saved, const struct layer_pass *pass) {
    (void)parameters;
    (void)saved;
    activation_forward(ACTIVATION_GELU, input, output, number_count(layer, pass), pass->kernels);
}

static void gelu_backward(const struct layer *layer, const float *parameters, const float *input,
                          const float *output, float *saved, float *grad_output, float *grad_input,
                          float *grad_parameters, const struct layer_pass *pass) {
    (void)parameters;
    (void)output;
    (void)saved;
    (void)grad_parameters;
    if (grad_input != NULL)
        activation_backward(ACTIVATION_GELU, input, grad_output, grad_input, number_count(layer, pass),
                            pass->kernels);
}

const struct layer_type layer_relu = {
    .name = "ReLU",
    .output_shape = output_shape,
    .forward = relu_forward,
    .backward = relu_backward,
};

const struct layer_type layer_gelu = {
    .name = "GELU",
    .output_shape = output_shape,
    .forward = gelu_forward,
    .backward = gelu_backward,
};
