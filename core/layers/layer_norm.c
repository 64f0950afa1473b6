/* Layer normalisation: see layer_norm.h. */
#include "core/layers/layer_norm.h"

#include "core/math/block_kernels.h"

void layer_norm_forward(const float *weight, const float *bias, const float *input, float *output,
                        float *statistics, size_t rows, size_t width, const struct kernels *kernels) {
    struct norm_rows norm = {rows, width, weight, bias, input, statistics};
    kernels->layer_norm_forward(&norm, output);
}

void layer_norm_backward(const float *weight, const float *input, float *statistics, const float *grad_output,
                         float *grad_input, float *grad_weight, float *grad_bias, size_t rows, size_t width,
                         const struct kernels *kernels) {
    struct norm_rows norm = {rows, width, weight, NULL, input, statistics};
    kernels->layer_norm_backward(&norm, grad_output, grad_input, grad_weight, grad_bias);
}

void layer_norm_initialise(float *weight, float *bias, size_t width) {
    for (size_t j = 0; j < width; j++) {
        weight[j] = 1;
        bias[j] = 0;
    }
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    tensor_describe(tensors, &count, "weight", layer->input.width, 0);
    tensor_describe(tensors, &count, "bias", layer->input.width, 0);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    (void)generator;
    layer_norm_initialise(parameters, parameters + layer->input.width, layer->input.width);
}

/* The statistics of all rows. */
static size_t saved_size(const struct layer *layer, size_t count) {
    return 2 * count * layer->input.steps;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    layer_norm_forward(parameters, parameters + layer->input.width, input, output, saved,
                       pass->count * layer->input.steps, layer->input.width, pass->kernels);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    layer_norm_backward(parameters, input, saved, grad_output, grad_input, grad_parameters,
                        grad_parameters == NULL ? NULL : grad_parameters + layer->input.width,
                        pass->count * layer->input.steps, layer->input.width, pass->kernels);
}

const struct layer_type layer_layer_norm = {
    .name = "layer norm",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .forward = forward,
    .backward = backward,
};
