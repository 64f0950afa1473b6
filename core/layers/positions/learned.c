/* Learned positions: see learned.h. */
#include "core/layers/positions/learned.h"

#include "core/layers/positions/position.h"
#include "core/random/torch_init.h"
#include "core/random/torch_random.h"

#include <string.h>

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    tensors[0] =
        (struct tensor){.name = "pos", .rank = 3, .shape = {1, layer->input.steps, layer->input.width}};
    return 1;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    torch_init_positions(generator, layer->input.steps, layer->input.width, 0.02, parameters);
}

static void initialise_lab(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    torch_normal(generator, parameters, layer->input.steps * layer->input.width, 0, 0.02);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    (void)saved;
    size_t block = layer->input.steps * layer->input.width;
    memcpy(output, input, pass->count * block * sizeof *output);
    for (size_t i = 0; i < pass->count; i++)
        pass->kernels->add_values(output + i * block, parameters, block);
}

static void copy_forward(const struct layer *layer, const float *parameters, const float *input,
                         float *output, float *saved, const struct layer_pass *pass) {
    (void)parameters;
    (void)saved;
    memcpy(output, input, pass->count * layer->input.steps * layer->input.width * sizeof *output);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    layer_copy_backward(layer, parameters, input, output, saved, grad_output, grad_input, grad_parameters,
                        pass);
    if (grad_parameters != NULL)
        pass->kernels->add_column_sums(grad_output, pass->count, layer->input.steps * layer->input.width,
                                       grad_parameters);
}

const struct layer_type layer_learned_positions = {
    .name = "learned positions",
    .spares_products = true,
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .forward = forward,
    .backward = backward,
};

const struct layer_type layer_lab_positions = {
    .name = "learned positions of the lab",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise_lab,
    .forward = forward,
    .backward = backward,
};

const struct layer_type layer_unused_positions = {
    .name = "positions, not used",
    .spares_products = true,
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise_lab,
    .forward = copy_forward,
    .backward = layer_copy_backward,
};

const struct position position_learned = {
    .name = "learned",
    .layer = &layer_learned_positions,
};
