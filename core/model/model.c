/* A model as a list of layers: see model.h. */
#include "core/model/model.h"

#include <assert.h>
#include <stdio.h>

void model_add_layer(struct model *model, const struct layer_type *type, const char *name, size_t width,
                     const struct layer_options *options) {
    assert(model->layer_count < MODEL_MAXIMUM_LAYERS);
    struct layer_shape input =
        model->layer_count == 0 ? model->input : model->layers[model->layer_count - 1].output;
    struct layer *layer = &model->layers[model->layer_count++];
    *layer = layer_make(type, name, input, width, options);
    layer->parameter_offset = model->parameter_count;
    model->parameter_count += layer->parameter_count;
    model->class_count = layer->output.width;
}

size_t model_tensors(const struct model *model, struct tensor tensors[MODEL_MAXIMUM_TENSORS]) {
    size_t count = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        struct tensor own[LAYER_MAXIMUM_TENSORS];
        size_t own_count = layer_tensors(layer, own);
        assert(count + own_count <= MODEL_MAXIMUM_TENSORS);
        for (size_t j = 0; j < own_count; j++) {
            struct tensor *tensor = &tensors[count++];
            *tensor = own[j];
            tensor->offset += layer->parameter_offset;
            snprintf(tensor->name, sizeof tensor->name, "%.28s%s%.32s", layer->name,
                     layer->name[0] == '\0' ? "" : ".", own[j].name);
        }
    }
    return count;
}

void model_initialise(const struct model *model, float *parameters, struct torch_generator *generator,
                      const struct stop_request *stop) {
    for (size_t i = 0; i < model->layer_count && !stop_is_requested(stop); i++) {
        const struct layer *layer = &model->layers[i];
        if (layer->type->initialise != NULL)
            layer->type->initialise(layer, parameters + layer->parameter_offset, generator);
    }
}

static bool is_attention(const struct layer *layer) {
    return layer->type->attention != NULL || layer->type->attention_rows != NULL;
}

size_t model_attention_layer_count(const struct model *model) {
    size_t count = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        count += is_attention(&model->layers[i]);
    return count;
}

size_t model_head_count(const struct model *model) {
    for (size_t i = 0; i < model->layer_count; i++)
        if (is_attention(&model->layers[i]))
            return model->layers[i].options.heads;
    return 0;
}

double model_operations(const struct model *model) {
    double operations = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        operations += layer_operations(&model->layers[i]);
    return operations;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

void model_workspace_layout(struct model_workspace *workspace, const struct model *model, size_t capacity,
                            bool with_gradients, struct arena *arena) {
    *workspace = (struct model_workspace){.capacity = capacity};
    size_t scratch = 0, widest = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        size_t output = capacity * layer->output.steps * layer->output.width;
        workspace->outputs[i] = arena_floats(arena, output);
        workspace->saved[i] = arena_floats(arena, layer_saved_size(layer, capacity));
        scratch = larger(scratch, layer_scratch_size(layer, capacity));
        widest = larger(widest, output);
    }
    workspace->scratch = arena_floats(arena, scratch);
    for (size_t i = 0; with_gradients && i < 2; i++)
        workspace->gradients[i] = arena_floats(arena, widest);
}

static struct layer_pass pass_of(const struct model_workspace *workspace, const struct model_batch *batch,
                                 const struct kernels *kernels) {
    return (struct layer_pass){.kernels = kernels,
                               .count = batch->count,
                               .tokens = batch->tokens,
                               .present = batch->present,
                               .scratch = workspace->scratch,
                               .stop = batch->stop};
}

static const float *input_of(const struct model_workspace *workspace, const struct model_batch *batch,
                             size_t layer) {
    return layer == 0 ? batch->values : workspace->outputs[layer - 1];
}

const float *model_forward(const struct model *model, const float *parameters,
                           struct model_workspace *workspace, const struct model_batch *batch,
                           const struct kernels *kernels) {
    assert(batch->count <= workspace->capacity);
    struct layer_pass pass = pass_of(workspace, batch, kernels);
    for (size_t i = 0; i < model->layer_count && !layer_pass_is_stopped(&pass); i++) {
        const struct layer *layer = &model->layers[i];
        layer->type->forward(layer, parameters + layer->parameter_offset, input_of(workspace, batch, i),
                             workspace->outputs[i], workspace->saved[i], &pass);
    }
    return workspace->outputs[model->layer_count - 1];
}

void model_backward(const struct model *model, const float *parameters, struct model_workspace *workspace,
                    const struct model_batch *batch, float *grad_logits, float *grad_input,
                    float *grad_parameters, const struct kernels *kernels) {
    struct layer_pass pass = pass_of(workspace, batch, kernels);
    float *grad_output = grad_logits;
    for (size_t i = model->layer_count; i-- > 0 && !layer_pass_is_stopped(&pass);) {
        const struct layer *layer = &model->layers[i];
        float *grad_below = i == 0 ? grad_input : workspace->gradients[i % 2];
        layer->type->backward(layer, parameters + layer->parameter_offset, input_of(workspace, batch, i),
                              workspace->outputs[i], workspace->saved[i], grad_output, grad_below,
                              grad_parameters == NULL ? NULL : grad_parameters + layer->parameter_offset,
                              &pass);
        grad_output = grad_below;
    }
}

/* Returns attention layer number `attention_layer`. */
static size_t find_attention_layer(const struct model *model, size_t attention_layer) {
    size_t i = 0;
    assert(attention_layer < model_attention_layer_count(model));
    while (!is_attention(&model->layers[i]) || attention_layer-- > 0)
        i++;
    return i;
}

bool model_computes_attention_rows(const struct model *model) {
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].type->attention_rows != NULL)
            return true;
    return false;
}

void model_attention(const struct model *model, const float *parameters,
                     const struct model_workspace *workspace, const struct model_batch *batch,
                     size_t attention_layer, float *weights, const struct kernels *kernels) {
    size_t i = find_attention_layer(model, attention_layer);
    const struct layer *layer = &model->layers[i];
    if (layer->type->attention == NULL) {
        model_attention_rows(model, parameters, workspace, batch, attention_layer, 0, model->input.steps,
                             weights, kernels);
        return;
    }
    struct layer_pass pass = pass_of(workspace, batch, kernels);
    layer->type->attention(layer, parameters + layer->parameter_offset, input_of(workspace, batch, i),
                           workspace->saved[i], weights, &pass);
}

void model_attention_rows(const struct model *model, const float *parameters,
                          const struct model_workspace *workspace, const struct model_batch *batch,
                          size_t attention_layer, size_t first, size_t queries, float *weights,
                          const struct kernels *kernels) {
    size_t i = find_attention_layer(model, attention_layer);
    const struct layer *layer = &model->layers[i];
    struct layer_pass pass = pass_of(workspace, batch, kernels);
    layer->type->attention_rows(layer, parameters + layer->parameter_offset, input_of(workspace, batch, i),
                                workspace->saved[i], first, queries, weights, &pass);
}
