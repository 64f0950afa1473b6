/* The gated recurrent unit, like torch.nn.GRU (Cho et al. 2014, but with the reset gate applied after the
 * product): see recurrent.h.
 *
 *   r, z = sigmoid(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh),   u = W_hn h_(t-1) + b_hn   (rows stacked r, z, n)
 *   n = tanh(W_in x_t + b_in + r u),   h_t = n + z (h_(t-1) - n),   h_0 = 0 */
#include "core/layers/recurrent.h"

#include "core/math/matrix.h"

#include <string.h>

enum { GATES = 3 };

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    recurrent_initialise(layer, parameters, GATES, generator);
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    return recurrent_describe(layer, tensors, GATES * layer->output.width);
}

/* gates[steps][count][3 width], then products (the u above) and hidden, each [steps][count][width]. */
static size_t saved_size(const struct layer *layer, size_t count) {
    return (GATES + 2) * layer->input.steps * count * layer->output.width;
}

struct saved_parts {
    float *gates, *products, *hidden;
};

static struct saved_parts parts_of(float *saved, const struct layer *layer, size_t count) {
    size_t size = layer->input.steps * count * layer->output.width;
    return (struct saved_parts){saved, saved + GATES * size, saved + (GATES + 1) * size};
}

static size_t shared_scratch(const struct layer *layer, size_t count) {
    return recurrent_scratch_size(layer, GATES * layer->output.width, count);
}

/* The scratch of recurrent.h, then grad_hidden_sums[steps][count][3 width] and grad_hidden[count][width]. */
static size_t scratch_size(const struct layer *layer, size_t count) {
    return shared_scratch(layer, count) + (GATES * layer->input.steps + 1) * count * layer->output.width;
}

/* The candidate's b_hh belongs to u, so the input's sums do not include it. */
static struct recurrent_parameters weights_of(const struct layer *layer, const float *parameters) {
    size_t width = layer->output.width;
    struct recurrent_parameters weights = recurrent_parameters_of(layer, parameters, GATES * width);
    weights.joined_rows = 2 * width;
    return weights;
}

/* Computes sigmoid(x) = (1 + tanh(x / 2)) / 2 in place. */
static void sigmoid(float *values, size_t count, const struct kernels *kernels) {
    for (size_t i = 0; i < count; i++)
        values[i] *= 0.5F;
    kernels->hyperbolic_tangent(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = 0.5F + 0.5F * values[i];
}

/* One step of one example: turns gates[3 width] from sums into values and computes hidden[width] from
 * `before` (NULL: zero). */
static void step_forward(float *gates, const float *products, const float *before, float *hidden,
                         size_t width, const struct kernels *kernels) {
    float *reset = gates, *update = gates + width, *candidate = gates + 2 * width;
    sigmoid(gates, 2 * width, kernels);
    for (size_t j = 0; j < width; j++)
        candidate[j] += reset[j] * products[j];
    kernels->hyperbolic_tangent(candidate, width);
    for (size_t j = 0; j < width; j++)
        hidden[j] = candidate[j] + update[j] * ((before != NULL ? before[j] : 0) - candidate[j]);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t width = layer->output.width, rows = GATES * width, count = pass->count, block = count * width;
    struct recurrent_parameters weights = weights_of(layer, parameters);
    struct saved_parts parts = parts_of(saved, layer, count);
    const float *weight_hh = recurrent_input_sums(layer, &weights, input, parts.gates, pass);
    for (size_t t = 0; t < layer->input.steps && !layer_pass_is_stopped(pass); t++) {
        float *gates = parts.gates + t * GATES * block, *products = parts.products + t * block;
        float *hidden = parts.hidden + t * block;
        const float *before = t > 0 ? hidden - block : NULL;
        for (size_t i = 0; i < count; i++)
            memcpy(products + i * width, weights.bias_hh + 2 * width, width * sizeof *products);
        if (t > 0) {
            matrix_multiply(count, 2 * width, width, 1, before, width, weight_hh, rows, 1, gates, rows);
            matrix_multiply(count, width, width, 1, before, width, weight_hh + 2 * width, rows, 1, products,
                            width);
        }
        for (size_t i = 0; i < count; i++)
            step_forward(gates + i * rows, products + i * width, t > 0 ? before + i * width : NULL,
                         hidden + i * width, width, pass->kernels);
    }
    recurrent_read_last(layer, parts.hidden, output, pass);
}

/* One step back of one example: replaces the values in gates[3 width] by the gradient of the input's sums,
 * sets hidden_sums[3 width] to the gradient of W_hh h + b_hh, and leaves in grad_hidden[width] the gradient
 * that bypasses the gates to the previous step. */
static void step_backward(float *gates, const float *products, const float *before, float *hidden_sums,
                          float *grad_hidden, size_t width) {
    for (size_t j = 0; j < width; j++) {
        float reset = gates[j], update = gates[width + j], candidate = gates[2 * width + j];
        float last = before != NULL ? before[j] : 0, gradient = grad_hidden[j];
        float grad_candidate = gradient * (1 - update) * (1 - candidate * candidate);
        float grad_update = gradient * (last - candidate) * update * (1 - update);
        float grad_reset = grad_candidate * products[j] * reset * (1 - reset);
        gates[j] = hidden_sums[j] = grad_reset;
        gates[width + j] = hidden_sums[width + j] = grad_update;
        gates[2 * width + j] = grad_candidate;
        hidden_sums[2 * width + j] = grad_candidate * reset;
        grad_hidden[j] = gradient * update;
    }
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    size_t width = layer->output.width, rows = GATES * width, count = pass->count, block = count * width;
    struct recurrent_parameters weights = weights_of(layer, parameters);
    struct saved_parts parts = parts_of(saved, layer, count);
    float *grad_hidden_sums = pass->scratch + shared_scratch(layer, count);
    float *grad_hidden = grad_hidden_sums + layer->input.steps * GATES * block;
    memset(grad_hidden, 0, block * sizeof *grad_hidden);
    for (size_t t = layer->input.steps; t-- > 0 && !layer_pass_is_stopped(pass);) {
        float *gates = parts.gates + t * GATES * block, *hidden_sums = grad_hidden_sums + t * GATES * block;
        const float *products = parts.products + t * block;
        const float *before = t > 0 ? parts.hidden + (t - 1) * block : NULL;
        recurrent_add_last_gradient(layer, t, grad_output, grad_hidden, pass);
        for (size_t i = 0; i < count; i++)
            step_backward(gates + i * rows, products + i * width, t > 0 ? before + i * width : NULL,
                          hidden_sums + i * rows, grad_hidden + i * width, width);
        if (t > 0)
            matrix_multiply(count, width, rows, 1, hidden_sums, rows, weights.weight_hh, width, 1,
                            grad_hidden, width);
    }
    if (!layer_pass_is_stopped(pass))
        recurrent_backward_products(layer, &weights, input, parts.hidden, parts.gates, grad_hidden_sums,
                                    grad_input, grad_parameters, pass);
}

const struct layer_type layer_gru = {
    .name = "GRU",
    .output_shape = recurrent_output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
