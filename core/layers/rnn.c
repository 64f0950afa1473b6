/* The recurrent layer with tanh, like torch.nn.RNN (Elman 1990): see recurrent.h.
 *
 *   h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh),   h_0 = 0
 *
 * The gradient reaches step t through T - t products with W_hh and as many factors tanh'; gradient-reach
 * shows the effect. */
#include "core/layers/recurrent.h"

#include "core/math/matrix.h"

#include <string.h>

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    recurrent_initialise(layer, parameters, 1, generator);
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    return recurrent_describe(layer, tensors, layer->output.width);
}

/* hidden[steps][count][width] */
static size_t saved_size(const struct layer *layer, size_t count) {
    return layer->input.steps * count * layer->output.width;
}

/* The scratch of recurrent.h, then grad_sums[steps][count][width], and grad_hidden[count][width]. */
static size_t shared_scratch(const struct layer *layer, size_t count) {
    return recurrent_scratch_size(layer, layer->output.width, count);
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    return shared_scratch(layer, count) + (layer->input.steps + 1) * count * layer->output.width;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t width = layer->output.width, block = pass->count * width;
    struct recurrent_parameters parts = recurrent_parameters_of(layer, parameters, width);
    float *hidden = saved;
    const float *weight_hh = recurrent_input_sums(layer, &parts, input, hidden, pass);
    for (size_t t = 0; t < layer->input.steps && !layer_pass_is_stopped(pass); t++) {
        float *now = hidden + t * block;
        if (t > 0)
            matrix_multiply(pass->count, width, width, 1, now - block, width, weight_hh, width, 1, now,
                            width);
        pass->kernels->hyperbolic_tangent(now, block);
    }
    recurrent_read_last(layer, hidden, output, pass);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    size_t width = layer->output.width, block = pass->count * width, steps = layer->input.steps;
    struct recurrent_parameters parts = recurrent_parameters_of(layer, parameters, width);
    const float *hidden = saved;
    float *grad_sums = pass->scratch + shared_scratch(layer, pass->count);
    float *grad_hidden = grad_sums + steps * block;
    memset(grad_hidden, 0, block * sizeof *grad_hidden);
    for (size_t t = steps; t-- > 0 && !layer_pass_is_stopped(pass);) {
        float *now = grad_sums + t * block;
        recurrent_add_last_gradient(layer, t, grad_output, grad_hidden, pass);
        pass->kernels->tanh_backward(hidden + t * block, grad_hidden, now, block);
        if (t > 0)
            matrix_multiply(pass->count, width, width, 1, now, width, parts.weight_hh, width, 0, grad_hidden,
                            width);
    }
    if (!layer_pass_is_stopped(pass))
        recurrent_backward_products(layer, &parts, input, hidden, grad_sums, grad_sums, grad_input,
                                    grad_parameters, pass);
}

const struct layer_type layer_rnn = {
    .name = "RNN",
    .output_shape = recurrent_output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
