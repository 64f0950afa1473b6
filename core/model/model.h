/* A model is a list of layers, read from top to bottom like the PyTorch class it mirrors.
 *
 * All parameters lie in one flat array in the order in which the PyTorch class creates them, so that drawing
 * them in order yields PyTorch's numbers. A model is a plain value that owns nothing; its caller provides the
 * parameters and a workspace. models.h builds the named models.
 *
 * May call layers, math and parameters (choices.h). Called by training, experiments and the server. */
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

/* Appends a layer that reads the last one's output, and assigns it a slice of the parameters. */
void model_add_layer(struct model *model, const struct layer_type *type, const char *name, size_t width,
                     const struct layer_options *options);

/* Lists all tensors with their full names and their offsets in the flat array; returns their number. */
size_t model_tensors(const struct model *model, struct tensor tensors[MODEL_MAXIMUM_TENSORS]);

/* Draws parameters[parameter_count] as PyTorch does when it constructs the class. `stop` may be NULL. After a
 * stop request the parameters are unusable. */
void model_initialise(const struct model *model, float *parameters, struct torch_generator *generator,
                      const struct stop_request *stop);

/* Return the number of attention layers and of heads in each; 0 if the model has none. */
size_t model_attention_layer_count(const struct model *model);
size_t model_head_count(const struct model *model);

/* The operations of a forward pass over one example, as layer_operations counts them. */
double model_operations(const struct model *model);

/* Memory for running up to `capacity` examples at a time. */
struct model_workspace {
    size_t capacity;
    float *outputs[MODEL_MAXIMUM_LAYERS]; /* of each layer */
    float *saved[MODEL_MAXIMUM_LAYERS];
    float *scratch;
    float *gradients[2]; /* of a layer's output and input, alternating; NULL without gradients */
};

/* Takes the workspace's memory from `arena`, which may be a measuring arena. */
void model_workspace_layout(struct model_workspace *workspace, const struct model *model, size_t capacity,
                            bool with_gradients, struct arena *arena);

/* The examples of one call, at most the workspace's capacity. */
struct model_batch {
    size_t count;
    const float *values;    /* [count][steps][width]; NULL for tokens */
    const int32_t *tokens;  /* [count][steps]; NULL for numbers */
    const uint8_t *present; /* [count][steps], NULL: no padding */
    /* NULL, or see struct layer_pass. After a stop request nothing that a call wrote is usable. */
    const struct stop_request *stop;
};

/* Returns logits[count][class_count]; the workspace owns them. */
const float *model_forward(const struct model *model, const float *parameters,
                           struct model_workspace *workspace, const struct model_batch *batch,
                           const struct kernels *kernels);

/* Call after model_forward on the same batch. Writes grad_input[count][steps][width] and adds to
 * grad_parameters[parameter_count]; either may be NULL. May overwrite grad_logits. */
void model_backward(const struct model *model, const float *parameters, struct model_workspace *workspace,
                    const struct model_batch *batch, float *grad_logits, float *grad_input,
                    float *grad_parameters, const struct kernels *kernels);

/* Call after model_forward on the same batch. Writes weights[count][heads][steps][steps] of attention layer
 * number `attention_layer`. */
void model_attention(const struct model *model, const float *parameters,
                     const struct model_workspace *workspace, const struct model_batch *batch,
                     size_t attention_layer, float *weights, const struct kernels *kernels);

/* Whether the model's attention layers keep no matrix and compute requested rows instead. */
bool model_computes_attention_rows(const struct model *model);

/* For such a model: writes weights[count][heads][queries][steps] for the queries from `first` on. */
void model_attention_rows(const struct model *model, const float *parameters,
                          const struct model_workspace *workspace, const struct model_batch *batch,
                          size_t attention_layer, size_t first, size_t queries, float *weights,
                          const struct kernels *kernels);

#endif
