/* The linear layer: see linear.h. */
#include "core/layers/linear.h"

#include "core/math/matrix.h"
#include "core/random/torch_init.h"

void linear_forward(const float *weight, const float *bias, const float *input, float *output, size_t rows,
                    size_t inputs, size_t outputs) {
    matrix_multiply_transposed_b_add_row(rows, outputs, inputs, input, inputs, weight, inputs, bias, output,
                                         outputs);
}

void linear_backward(const float *weight, const float *input, const float *grad_output, float *grad_input,
                     bool accumulate_input, float *grad_weight, float *grad_bias, size_t rows, size_t inputs,
                     size_t outputs) {
    if (grad_weight != NULL)
        matrix_multiply_transposed_a(outputs, inputs, rows, 1, grad_output, outputs, input, inputs, 1,
                                     grad_weight, inputs);
    if (grad_bias != NULL)
        matrix_add_column_sums(grad_output, rows, outputs, grad_bias);
    if (grad_input != NULL)
        matrix_multiply(rows, inputs, outputs, 1, grad_output, outputs, weight, inputs,
                        accumulate_input ? 1 : 0, grad_input, inputs);
}

void linear_initialise(float *weight, float *bias, size_t inputs, size_t outputs,
                       struct torch_generator *generator) {
    torch_init_linear(generator, inputs, outputs, weight, bias);
}

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)options;
    return (struct layer_shape){input.steps, width};
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    tensor_describe(tensors, &count, "weight", layer->output.width, layer->input.width);
    tensor_describe(tensors, &count, "bias", layer->output.width, 0);
    return count;
}

/* The bias follows the weight. */
static size_t bias_offset(const struct layer *layer) {
    return layer->output.width * layer->input.width;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    linear_initialise(parameters, parameters + bias_offset(layer), layer->input.width, layer->output.width,
                      generator);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    (void)saved;
    linear_forward(parameters, parameters + bias_offset(layer), input, output,
                   pass->count * layer->input.steps, layer->input.width, layer->output.width);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    (void)saved;
    linear_backward(parameters, input, grad_output, grad_input, false, grad_parameters,
                    grad_parameters == NULL ? NULL : grad_parameters + bias_offset(layer),
                    pass->count * layer->input.steps, layer->input.width, layer->output.width);
}

const struct layer_type layer_linear = {
    .name = "linear",
    .output_shape = output_shape,
    .describe = describe,
    .initialise = initialise,
    .forward = forward,
    .backward = backward,
};
