/* A model is a list of layers, read from top to bottom like the PyTorch class it mirrors.
 *
 * All parameters lie in one flat array, in the order in which the PyTorch class makes them, so that drawing
 * them in order draws PyTorch's numbers. A model is a plain value that owns nothing; who runs one gives it
 * the parameters and a workspace. models.h builds the models that have a name.
 *
 * May call layers, math and parameters (choices.h). Called by training and experiments, and by
 * the server. */
#ifndef ATTNLAB_CORE_MODEL_MODEL_H
#define ATTNLAB_CORE_MODEL_MODEL_H

#include "core/layers/layer.h"
#include "core/math/arena.h"

enum { MODEL_MAXIMUM_LAYERS = 24, MODEL_MAXIMUM_TENSORS = 256 };

struct model {
    struct layer layers[MODEL_MAXIMUM_LAYERS];
    size_t layer_count;
    size_t parameter_count;
    bool reads_tokens;        /* the first layer takes ids, not numbers */
    struct layer_shape input; /* of one example; width 0 for tokens */
    size_t class_count;       /* logits per example */
};

/* Appends a layer over the last one's output and gives it its slice of the parameters. */
void model_add_layer(struct model *model, const struct layer_type *type, const char *name, size_t width,
                     const struct layer_options *options);

/* All tensors with their full names and their offsets in the flat array; returns how many. */
size_t model_tensors(const struct model *model, struct tensor tensors[MODEL_MAXIMUM_TENSORS]);

/* Draws parameters[parameter_count] as PyTorch does when it constructs the class. `stop` may be NULL; once it
 * is requested they may not be used. */
void model_initialise(const struct model *model, float *parameters, struct torch_generator *generator,
                      const struct stop_request *stop);

/* Attention layers, and the heads of each (0 without any). */
size_t model_attention_layer_count(const struct model *model);
size_t model_head_count(const struct model *model);

/* Memory for running up to `capacity` examples at a time. */
struct model_workspace {
    size_t capacity;
    float *outputs[MODEL_MAXIMUM_LAYERS]; /* of each layer */
    float *saved[MODEL_MAXIMUM_LAYERS];
    float *scratch;
    float *gradients[2]; /* of a layer's output and input, in turn; NULL without gradients */
};

/* Takes the workspace's memory from `arena`, which may be one that only measures. */
void model_workspace_layout(struct model_workspace *workspace, const struct model *model, size_t capacity,
                            bool with_gradients, struct arena *arena);

/* The examples of one call, at most the workspace's capacity. */
struct model_batch {
    size_t count;
    const float *values;    /* [count][steps][width]; NULL for tokens */
    const int32_t *tokens;  /* [count][steps]; NULL for numbers */
    const uint8_t *present; /* [count][steps], NULL: no padding */
    /* NULL, or see struct layer_pass: once a stop is requested nothing that a call has written may be used.
     */
    const struct stop_request *stop;
};

/* Returns logits[count][class_count], which belong to the workspace. */
const float *model_forward(const struct model *model, const float *parameters,
                           struct model_workspace *workspace, const struct model_batch *batch,
                           const struct kernels *kernels);

/* After model_forward on the same batch. grad_logits may be overwritten; grad_input[count][steps][width]
 * (NULL: not wanted) is written, grad_parameters[parameter_count] (NULL: not wanted) added to. */
void model_backward(const struct model *model, const float *parameters, struct model_workspace *workspace,
                    const struct model_batch *batch, float *grad_logits, float *grad_input,
                    float *grad_parameters, const struct kernels *kernels);

/* After model_forward on the same batch: weights[count][heads][steps][steps] of the attention layer number
 * `attention_layer`. */
void model_attention(const struct model *model, const float *parameters,
                     const struct model_workspace *workspace, const struct model_batch *batch,
                     size_t attention_layer, float *weights, const struct kernels *kernels);

/* Whether its attention layers keep no matrix, and give the rows that are asked for. */
bool model_computes_attention_rows(const struct model *model);

/* For such a model: weights[count][heads][queries][steps] of the queries from `first` on. */
void model_attention_rows(const struct model *model, const float *parameters,
                          const struct model_workspace *workspace, const struct model_batch *batch,
                          size_t attention_layer, size_t first, size_t queries, float *weights,
                          const struct kernels *kernels);

#endif
