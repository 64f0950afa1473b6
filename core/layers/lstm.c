/* The LSTM layer, like torch.nn.LSTM (Hochreiter and Schmidhuber 1997, with a forget gate): see recurrent.h.
 *
 *   i, f, o = sigmoid(...), g = tanh(...)   of   W_ih x_t + b_ih + W_hh h_(t-1) + b_hh, stacked i, f, g, o
 *   c_t = f c_(t-1) + i g,   h_t = o tanh(c_t),   h_0 = c_0 = 0 */
#include "core/layers/recurrent.h"

#include "core/math/matrix.h"

#include <string.h>

enum { GATES = 4 }; /* i, f, g, o */

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    recurrent_initialise(layer, parameters, GATES, generator);
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    return recurrent_describe(layer, tensors, 4 * layer->output.width);
}

/* gates[steps][count][4 width], then cell, cell_tanh and hidden, each [steps][count][width]. */
static size_t saved_size(const struct layer *layer, size_t count) {
    return 7 * layer->input.steps * count * layer->output.width;
}

struct saved_parts {
    float *gates, *cell, *cell_tanh, *hidden;
};

static struct saved_parts parts_of(float *saved, const struct layer *layer, size_t count) {
    size_t size = layer->input.steps * count * layer->output.width;
    return (struct saved_parts){saved, saved + 4 * size, saved + 5 * size, saved + 6 * size};
}

static size_t shared_scratch(const struct layer *layer, size_t count) {
    return recurrent_scratch_size(layer, 4 * layer->output.width, count);
}

/* The scratch of recurrent.h, then grad_hidden[count][width] and grad_cell[count][width]. */
static size_t scratch_size(const struct layer *layer, size_t count) {
    return shared_scratch(layer, count) + 2 * count * layer->output.width;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t width = layer->output.width, block = pass->count * width;
    struct recurrent_parameters weights = recurrent_parameters_of(layer, parameters, 4 * width);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    const float *weight_hh = recurrent_input_sums(layer, &weights, input, parts.gates, pass);
    for (size_t t = 0; t < layer->input.steps && !layer_pass_is_stopped(pass); t++) {
        float *gates = parts.gates + t * 4 * block, *cell = parts.cell + t * block;
        float *hidden = parts.hidden + t * block;
        if (t > 0)
            matrix_multiply(pass->count, 4 * width, width, 1, hidden - block, width, weight_hh, 4 * width, 1,
                            gates, 4 * width);
        pass->kernels->lstm_step(gates, t > 0 ? cell - block : NULL, cell, parts.cell_tanh + t * block,
                                 hidden, pass->count, width);
    }
    recurrent_read_last(layer, parts.hidden, output, pass);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    size_t width = layer->output.width, block = pass->count * width;
    struct recurrent_parameters weights = recurrent_parameters_of(layer, parameters, 4 * width);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    float *grad_hidden = pass->scratch + shared_scratch(layer, pass->count), *grad_cell = grad_hidden + block;
    memset(grad_hidden, 0, 2 * block * sizeof *grad_hidden);
    for (size_t t = layer->input.steps; t-- > 0 && !layer_pass_is_stopped(pass);) {
        float *gates = parts.gates + t * 4 * block;
        recurrent_add_last_gradient(layer, t, grad_output, grad_hidden, pass);
        pass->kernels->lstm_step_backward(gates, t > 0 ? parts.cell + (t - 1) * block : NULL,
                                          parts.cell_tanh + t * block, grad_hidden, grad_cell, pass->count,
                                          width);
        if (t > 0)
            matrix_multiply(pass->count, width, 4 * width, 1, gates, 4 * width, weights.weight_hh, width, 0,
                            grad_hidden, width);
    }
    if (!layer_pass_is_stopped(pass))
        recurrent_backward_products(layer, &weights, input, parts.hidden, parts.gates, parts.gates,
                                    grad_input, grad_parameters, pass);
}

const struct layer_type layer_lstm = {
    .name = "LSTM",
    .output_shape = recurrent_output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
