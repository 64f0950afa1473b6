/* What the RNN and the LSTM share: see recurrent.h. */
#include "core/layers/recurrent.h"

#include "core/math/matrix.h"

#include <string.h>

struct recurrent_parameters recurrent_parameters_of(const struct layer *layer, const float *parameters,
                                                    size_t rows) {
    struct recurrent_parameters parts = {
        .inputs = layer->input.width, .width = layer->output.width, .rows = rows};
    parts.weight_ih = parameters;
    parts.weight_hh = parts.weight_ih + rows * parts.inputs;
    parts.bias_ih = parts.weight_hh + rows * parts.width;
    parts.bias_hh = parts.bias_ih + rows;
    return parts;
}

struct layer_shape recurrent_output_shape(struct layer_shape input, size_t width,
                                          const struct layer_options *options) {
    (void)input;
    (void)options;
    return (struct layer_shape){1, width};
}

size_t recurrent_describe(const struct layer *layer, struct tensor *tensors, size_t rows) {
    size_t count = 0;
    tensor_describe(tensors, &count, "weight_ih_l0", rows, layer->input.width);
    tensor_describe(tensors, &count, "weight_hh_l0", rows, layer->output.width);
    tensor_describe(tensors, &count, "bias_ih_l0", rows, 0);
    tensor_describe(tensors, &count, "bias_hh_l0", rows, 0);
    return count;
}

void recurrent_initialise(const struct layer *layer, float *parameters, enum torch_recurrent_gates gates,
                          struct torch_generator *generator) {
    size_t inputs = layer->input.width, width = layer->output.width, rows = gates * width;
    float *weight_hh = parameters + rows * inputs, *bias_ih = weight_hh + rows * width;
    torch_init_recurrent(generator, gates, inputs, width, parameters, weight_hh, bias_ih, bias_ih + rows);
}

/* Copies between batch-major [count][steps][width] and time-major [steps][count][width]. */
static void to_time_major(size_t count, size_t steps, size_t width, const float *from, float *to) {
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < steps; t++)
            for (size_t j = 0; j < width; j++)
                to[(t * count + i) * width + j] = from[(i * steps + t) * width + j];
}

void recurrent_input_sums(const struct layer *layer, const struct recurrent_parameters *parameters,
                          const float *input, float *sums, const struct layer_pass *pass) {
    size_t total = pass->count * layer->input.steps, rows = parameters->rows, inputs = parameters->inputs;
    to_time_major(pass->count, layer->input.steps, inputs, input, pass->scratch);
    for (size_t j = 0; j < rows; j++)
        sums[j] = parameters->bias_ih[j] + parameters->bias_hh[j];
    for (size_t i = 1; i < total; i++)
        memcpy(sums + i * rows, sums, rows * sizeof *sums);
    matrix_multiply_transposed_b(total, rows, inputs, 1, pass->scratch, inputs, parameters->weight_ih, inputs,
                                 1, sums, rows);
}

static void add_parameter_gradients(const struct layer *layer, const struct recurrent_parameters *parameters,
                                    const float *input, const float *hidden, const float *grad_sums,
                                    float *grad_parameters, const struct layer_pass *pass) {
    size_t total = pass->count * layer->input.steps, count = pass->count;
    size_t rows = parameters->rows, inputs = parameters->inputs, width = parameters->width;
    float *grad_hh = grad_parameters + rows * inputs, *grad_bias_ih = grad_hh + rows * width;
    float *grad_bias_hh = grad_bias_ih + rows;
    to_time_major(count, layer->input.steps, inputs, input, pass->scratch);
    matrix_multiply_transposed_a(rows, inputs, total, 1, grad_sums, rows, pass->scratch, inputs, 1,
                                 grad_parameters, inputs);
    /* The hidden state before step t is that after step t - 1; before the first it is zero. */
    if (total > count)
        matrix_multiply_transposed_a(rows, width, total - count, 1, grad_sums + count * rows, rows, hidden,
                                     width, 1, grad_hh, width);
    pass->kernels->add_column_sums(grad_sums, total, rows, grad_bias_ih);
    pass->kernels->add_column_sums(grad_sums, total, rows, grad_bias_hh);
}

void recurrent_backward_products(const struct layer *layer, const struct recurrent_parameters *parameters,
                                 const float *input, const float *hidden, const float *grad_sums,
                                 float *grad_input, float *grad_parameters, const struct layer_pass *pass) {
    size_t total = pass->count * layer->input.steps, steps = layer->input.steps;
    size_t rows = parameters->rows, inputs = parameters->inputs;
    if (grad_parameters != NULL)
        add_parameter_gradients(layer, parameters, input, hidden, grad_sums, grad_parameters, pass);
    if (grad_input != NULL) {
        matrix_multiply(total, inputs, rows, 1, grad_sums, rows, parameters->weight_ih, inputs, 0,
                        pass->scratch, inputs);
        to_time_major(steps, pass->count, inputs, pass->scratch, grad_input);
    }
}

size_t recurrent_last_step(const struct layer *layer, size_t example, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, last = steps - 1;
    if (pass->present != NULL)
        while (last > 0 && pass->present[example * steps + last] == 0)
            last--;
    return last;
}

void recurrent_read_last(const struct layer *layer, const float *hidden, float *output,
                         const struct layer_pass *pass) {
    size_t width = layer->output.width;
    for (size_t i = 0; i < pass->count; i++) {
        size_t last = recurrent_last_step(layer, i, pass);
        memcpy(output + i * width, hidden + (last * pass->count + i) * width, width * sizeof *output);
    }
}

void recurrent_add_last_gradient(const struct layer *layer, size_t step, const float *grad_output,
                                 float *grad_hidden, const struct layer_pass *pass) {
    size_t width = layer->output.width;
    if (pass->present == NULL && step != layer->input.steps - 1)
        return;
    for (size_t i = 0; i < pass->count; i++)
        if (recurrent_last_step(layer, i, pass) == step)
            for (size_t j = 0; j < width; j++)
                grad_hidden[i * width + j] += grad_output[i * width + j];
}
