/* The embedding: see embedding.h. */
#include "core/layers/embedding.h"

#include "core/random/torch_init.h"

#include <string.h>

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)options;
    return (struct layer_shape){input.steps, width};
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    tensor_describe(tensors, &count, "weight", layer->options.vocabulary_size, layer->output.width);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    torch_init_embedding(generator, layer->options.vocabulary_size, layer->output.width, 0, parameters);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    (void)input;
    (void)saved;
    size_t width = layer->output.width;
    for (size_t i = 0; i < pass->count * layer->input.steps; i++)
        memcpy(output + i * width, parameters + (size_t)pass->tokens[i] * width, width * sizeof *output);
}

/* Ids have no gradient, so grad_input stays unchanged. */
static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    (void)output;
    (void)saved;
    (void)grad_input;
    size_t width = layer->output.width;
    for (size_t i = 0; grad_parameters != NULL && i < pass->count * layer->input.steps; i++) {
        if (pass->tokens[i] == 0)
            continue;
        float *row = grad_parameters + (size_t)pass->tokens[i] * width;
        for (size_t j = 0; j < width; j++)
            row[j] += grad_output[i * width + j];
    }
}

const struct layer_type layer_embedding = {
    .name = "embedding",
    .spares_products = true,
    .output_shape = output_shape,
    .describe = describe,
    .initialise = initialise,
    .forward = forward,
    .backward = backward,
};
