/* Functions common to all layers: see layer.h. */
#include "core/layers/layer.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct layer layer_make(const struct layer_type *type, const char *name, struct layer_shape input,
                        size_t width, const struct layer_options *options) {
    struct layer layer = {.type = type, .name = name, .input = input};
    if (options != NULL)
        layer.options = *options;
    if (layer.options.heads == 0)
        layer.options.heads = 1;
    layer.output = type->output_shape(input, width, &layer.options);
    struct tensor tensors[LAYER_MAXIMUM_TENSORS];
    size_t count = layer_tensors(&layer, tensors);
    if (count > 0)
        layer.parameter_count = tensors[count - 1].offset + tensor_element_count(&tensors[count - 1]);
    return layer;
}

size_t layer_tensors(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    if (layer->type->describe == NULL)
        return 0;
    size_t count = layer->type->describe(layer, tensors);
    assert(count <= LAYER_MAXIMUM_TENSORS);
    size_t offset = 0;
    for (size_t i = 0; i < count; i++) {
        tensors[i].offset = offset;
        offset += tensor_element_count(&tensors[i]);
    }
    return count;
}

size_t tensor_element_count(const struct tensor *tensor) {
    size_t count = 1;
    for (size_t i = 0; i < tensor->rank; i++)
        count *= tensor->shape[i];
    return count;
}

double layer_operations(const struct layer *layer) {
    enum { OVERHEAD_OF_STEP = 2000, OPERATIONS_ON_VALUE = 8 };
    const struct layer_type *type = layer->type;
    double steps =
        (double)(layer->input.steps > layer->output.steps ? layer->input.steps : layer->output.steps);
    double values = (double)(layer->input.width + layer->output.width) * OPERATIONS_ON_VALUE;
    double products = type->spares_products ? 0 : OVERHEAD_OF_STEP + 2 * (double)layer->parameter_count;
    double further = type->further_operations == NULL ? 0 : type->further_operations(layer);
    return steps * (values + products) + further;
}

size_t layer_saved_size(const struct layer *layer, size_t count) {
    return layer->type->saved_size == NULL ? 0 : layer->type->saved_size(layer, count);
}

size_t layer_scratch_size(const struct layer *layer, size_t count) {
    return layer->type->scratch_size == NULL ? 0 : layer->type->scratch_size(layer, count);
}

void tensor_describe(struct tensor *tensors, size_t *count, const char *name, size_t rows, size_t columns) {
    assert(*count < LAYER_MAXIMUM_TENSORS);
    struct tensor *tensor = &tensors[(*count)++];
    *tensor = (struct tensor){.rank = columns == 0 ? 1 : 2, .shape = {rows, columns, 0}};
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
}

struct layer_shape layer_same_shape(struct layer_shape input, size_t width,
                                    const struct layer_options *options) {
    (void)width;
    (void)options;
    return input;
}

void layer_copy_backward(const struct layer *layer, const float *parameters, const float *input,
                         const float *output, float *saved, float *grad_output, float *grad_input,
                         float *grad_parameters, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    (void)output;
    (void)saved;
    (void)grad_parameters;
    if (grad_input != NULL)
        memcpy(grad_input, grad_output,
               pass->count * layer->input.steps * layer->input.width * sizeof *grad_input);
}
