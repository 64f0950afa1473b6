/* Functions common to recurrent layers: see recurrent.h. */
#include "core/layers/recurrent.h"

#include "core/math/matrix.h"
#include "core/random/torch_init.h"

#include <string.h>

struct recurrent_parameters recurrent_parameters_of(const struct layer *layer, const float *parameters,
                                                    size_t rows) {
    struct recurrent_parameters parts = {
        .inputs = layer->input.width, .width = layer->output.width, .rows = rows, .joined_rows = rows};
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

void recurrent_initialise(const struct layer *layer, float *parameters, size_t gates,
                          struct torch_generator *generator) {
    size_t inputs = layer->input.width, width = layer->output.width, rows = gates * width;
    float *weight_hh = parameters + rows * inputs, *bias_ih = weight_hh + rows * width;
    torch_init_recurrent(generator, gates, inputs, width, parameters, weight_hh, bias_ih, bias_ih + rows);
}

/* The parts of the scratch. Every step's inputs are followed by a one, and the biases are one more column of
 * W_ih, so that the matrix products also add the biases and compute their gradient. */
struct scratch_parts {
    float *inputs;    /* [steps][count][inputs + 1] */
    float *weight_ih; /* [inputs + 1][rows]: W_ih transposed, then b_ih + b_hh; or their gradient */
    float *weight_hh; /* [width][rows]: W_hh transposed */
};

static struct scratch_parts scratch_of(const struct layer *layer, size_t rows,
                                       const struct layer_pass *pass) {
    size_t columns = layer->input.width + 1;
    struct scratch_parts parts = {.inputs = pass->scratch};
    parts.weight_ih = parts.inputs + layer->input.steps * pass->count * columns;
    parts.weight_hh = parts.weight_ih + columns * rows;
    return parts;
}

size_t recurrent_scratch_size(const struct layer *layer, size_t rows, size_t count) {
    size_t columns = layer->input.width + 1;
    return layer->input.steps * count * columns + (columns + layer->output.width) * rows;
}

/* Copies batch-major [count][steps][inputs] to time-major and appends the ones. */
static void fill_inputs(const struct layer *layer, const float *input, float *to,
                        const struct layer_pass *pass) {
    size_t count = pass->count, steps = layer->input.steps, inputs = layer->input.width;
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < steps; t++) {
            float *row = to + (t * count + i) * (inputs + 1);
            for (size_t j = 0; j < inputs; j++)
                row[j] = input[(i * steps + t) * inputs + j];
            row[inputs] = 1;
        }
}

/* Transposes from[rows][columns] to to[columns][rows]. */
static void transpose(const float *from, size_t rows, size_t columns, float *to) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * columns + j];
}

/* One product computes the sums of all steps; a very large one is divided, so that it can be stopped. */
enum { SUMS_AT_ONCE = 1 << 22 };

const float *recurrent_input_sums(const struct layer *layer, const struct recurrent_parameters *parameters,
                                  const float *input, float *sums, const struct layer_pass *pass) {
    size_t total = pass->count * layer->input.steps, rows = parameters->rows, inputs = parameters->inputs;
    struct scratch_parts parts = scratch_of(layer, rows, pass);
    fill_inputs(layer, input, parts.inputs, pass);
    transpose(parameters->weight_ih, rows, inputs, parts.weight_ih);
    for (size_t j = 0; j < rows; j++)
        parts.weight_ih[inputs * rows + j] =
            parameters->bias_ih[j] + (j < parameters->joined_rows ? parameters->bias_hh[j] : 0);
    size_t most = SUMS_AT_ONCE / (rows + 1) + 1;
    for (size_t first = 0; first < total && !layer_pass_is_stopped(pass); first += most)
        matrix_multiply(total - first < most ? total - first : most, rows, inputs + 1, 1,
                        parts.inputs + first * (inputs + 1), inputs + 1, parts.weight_ih, rows, 0,
                        sums + first * rows, rows);
    transpose(parameters->weight_hh, rows, parameters->width, parts.weight_hh);
    return parts.weight_hh;
}

static void add_parameter_gradients(const struct layer *layer, const struct recurrent_parameters *parameters,
                                    const float *input, const float *hidden, const float *grad_sums,
                                    const float *grad_hidden_sums, float *grad_parameters,
                                    const struct layer_pass *pass) {
    size_t total = pass->count * layer->input.steps, count = pass->count;
    size_t rows = parameters->rows, inputs = parameters->inputs, width = parameters->width;
    float *grad_hh = grad_parameters + rows * inputs, *grad_bias_ih = grad_hh + rows * width;
    float *grad_bias_hh = grad_bias_ih + rows;
    struct scratch_parts parts = scratch_of(layer, rows, pass);
    fill_inputs(layer, input, parts.inputs, pass);
    matrix_multiply_transposed_a(inputs + 1, rows, total, 1, parts.inputs, inputs + 1, grad_sums, rows, 0,
                                 parts.weight_ih, rows);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < inputs; j++)
            grad_parameters[i * inputs + j] += parts.weight_ih[j * rows + i];
        grad_bias_ih[i] += parts.weight_ih[inputs * rows + i];
        if (i < parameters->joined_rows)
            grad_bias_hh[i] += parts.weight_ih[inputs * rows + i];
    }
    size_t joined = parameters->joined_rows;
    if (joined < rows)
        matrix_multiply_transposed_a(1, rows - joined, total, 1, parts.inputs + inputs, inputs + 1,
                                     grad_hidden_sums + joined, rows, 1, grad_bias_hh + joined,
                                     rows - joined);
    /* The hidden state before step t is the one after step t - 1; before the first step it is zero. */
    if (total > count)
        matrix_multiply_transposed_a(rows, width, total - count, 1, grad_hidden_sums + count * rows, rows,
                                     hidden, width, 1, grad_hh, width);
}

void recurrent_backward_products(const struct layer *layer, const struct recurrent_parameters *parameters,
                                 const float *input, const float *hidden, const float *grad_sums,
                                 const float *grad_hidden_sums, float *grad_input, float *grad_parameters,
                                 const struct layer_pass *pass) {
    size_t total = pass->count * layer->input.steps, steps = layer->input.steps, count = pass->count;
    size_t rows = parameters->rows, inputs = parameters->inputs;
    if (grad_parameters != NULL)
        add_parameter_gradients(layer, parameters, input, hidden, grad_sums, grad_hidden_sums,
                                grad_parameters, pass);
    if (grad_input == NULL)
        return;
    const float *time_major = pass->scratch;
    matrix_multiply(total, inputs, rows, 1, grad_sums, rows, parameters->weight_ih, inputs, 0, pass->scratch,
                    inputs);
    for (size_t t = 0; t < steps; t++)
        for (size_t i = 0; i < count; i++)
            memcpy(grad_input + (i * steps + t) * inputs, time_major + (t * count + i) * inputs,
                   inputs * sizeof *grad_input);
}

/* The last real step of an example; 0 if it is all padding. */
static size_t last_step(const struct layer *layer, size_t example, const struct layer_pass *pass) {
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
        size_t last = last_step(layer, i, pass);
        memcpy(output + i * width, hidden + (last * pass->count + i) * width, width * sizeof *output);
    }
}

void recurrent_add_last_gradient(const struct layer *layer, size_t step, const float *grad_output,
                                 float *grad_hidden, const struct layer_pass *pass) {
    size_t width = layer->output.width;
    if (pass->present == NULL && step != layer->input.steps - 1)
        return;
    for (size_t i = 0; i < pass->count; i++)
        if (last_step(layer, i, pass) == step)
            for (size_t j = 0; j < width; j++)
                grad_hidden[i * width + j] += grad_output[i * width + j];
}
