/* What a layer is.
 *
 * A layer maps [count][steps][width] floats to another such block and can send gradients back. Its type is a
 * table of functions (one file per type in this folder); a value of struct layer says how one is configured.
 * A layer owns no memory: parameters are a slice of the model's flat array, activations lie in the arena of
 * whoever runs the model. All matrices are row-major; a batch is [count][steps][width] without gaps.
 *
 * May call math and random (initial values). Folders in this one stand above it: positions, attention,
 * blocks. Called by model and experiments. */
#ifndef ATTNLAB_CORE_LAYERS_LAYER_H
#define ATTNLAB_CORE_LAYERS_LAYER_H

#include "core/math/kernels.h"
#include "core/stop_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct torch_generator; /* core/random/torch_random.h */

/* One example: `steps` rows of `width` numbers. Token ids count as width 0. */
struct layer_shape {
    size_t steps, width;
};

enum activation { ACTIVATION_RELU, ACTIVATION_GELU };

/* Whether a query sees the keys after it. */
enum attention_mask { ATTENTION_MASK_NONE, ATTENTION_MASK_CAUSAL };

struct position; /* core/layers/positions/position.h */

struct layer_options {
    size_t heads;                    /* attention; 0 is read as 1 */
    enum attention_mask mask;        /* attention */
    const struct position *position; /* attention, which may rotate; scalar attention, which adds too; NULL:
                                        none */
    bool skips_padding;              /* encoder block: its output at padding, which nobody reads, is left 0 */
    size_t feedforward_width;        /* encoder block, feed-forward */
    enum activation activation;
    size_t vocabulary_size; /* embedding: rows of its table; id 0 is padding */
};

struct layer_type;

struct layer {
    const struct layer_type *type;
    const char *name; /* prefix of its parameter names, as in the PyTorch class: "rnn"; "" for none; static */
    struct layer_shape input, output;
    struct layer_options options;
    size_t parameter_offset; /* of its slice in the model's flat array; set when the model is built */
    size_t parameter_count;
};

/* A named parameter tensor of a layer. */
enum { TENSOR_MAXIMUM_RANK = 3, LAYER_MAXIMUM_TENSORS = 16 };
struct tensor {
    char name[64]; /* within the layer: "weight_ih_l0"; within a model with the prefix: "rnn.weight_ih_l0" */
    size_t rank;
    size_t shape[TENSOR_MAXIMUM_RANK];
    size_t offset; /* in floats: within the layer's slice, or within the model's array */
};

/* What a call works on besides its matrices: the part of a batch that one thread handles. */
struct layer_pass {
    const struct kernels *kernels;
    size_t count;           /* examples in this part */
    const int32_t *tokens;  /* [count][steps] ids, read by a first layer that takes tokens; else NULL */
    const uint8_t *present; /* [count][steps]: 1 at a real step, 0 at padding; NULL: no padding */
    float *scratch;         /* scratch_size floats; holds nothing between two calls */
    /* Forward and backward may end early where it is asked for; what they have written then means nothing,
     * and whoever called asks too. NULL: never. */
    const struct stop_request *stop;
};

static inline bool layer_pass_is_stopped(const struct layer_pass *pass) {
    return stop_is_requested(pass->stop);
}

struct layer_type {
    const char *name; /* for people: "LSTM" */

    /* Much of a pass is the same work for one example as for many: a batch is then divided into few parts. */
    bool shares_work;

    /* The output's shape, from the input's shape and the options. */
    struct layer_shape (*output_shape)(struct layer_shape input, size_t width,
                                       const struct layer_options *options);

    /* Fills in name, rank and shape of the tensors, in the order of the flat array (the order in which the
     * PyTorch class makes them); returns how many. NULL: no parameters. Offsets are filled in by
     * layer_tensors. */
    size_t (*describe)(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);

    /* Draws initial values in PyTorch's order. NULL: nothing is drawn. */
    void (*initialise)(const struct layer *layer, float *parameters, struct torch_generator *generator);

    /* Floats that must live from forward to backward, beside input and output, and floats that either needs
     * while it runs, for `count` examples. NULL: none. */
    size_t (*saved_size)(const struct layer *layer, size_t count);
    size_t (*scratch_size)(const struct layer *layer, size_t count);

    /* output[count][output.steps][output.width] from input[count][input.steps][input.width]. */
    void (*forward)(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass);

    /* The same input, output and saved as forward left them. grad_output may be overwritten, and so may
     * saved. grad_input (NULL: not wanted) is written; grad_parameters (NULL: not wanted) is added to. */
    void (*backward)(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass);

    /* Writes weights[count][heads][queries][keys] after a forward call with the same arguments (and before
     * backward). NULL: not an attention layer. */
    void (*attention)(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass);

    /* Instead of `attention` or beside it, in layers that need not keep the matrix: writes
     * weights[count][heads][queries][keys] of the queries from `first` on. */
    void (*attention_rows)(const struct layer *layer, const float *parameters, const float *input,
                           float *saved, size_t first, size_t queries, float *weights,
                           const struct layer_pass *pass);
};

/* A configured layer: output shape and parameter count filled in. `width` is the output's for those layers
 * that choose one (linear, RNN, embedding), ignored by the others. `options` may be NULL. */
struct layer layer_make(const struct layer_type *type, const char *name, struct layer_shape input,
                        size_t width, const struct layer_options *options);

/* Its tensors with their offsets within the layer's slice; returns how many. */
size_t layer_tensors(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);
size_t tensor_element_count(const struct tensor *tensor);

size_t layer_saved_size(const struct layer *layer, size_t count);
size_t layer_scratch_size(const struct layer *layer, size_t count);

/* output_shape of layers that keep the shape. */
struct layer_shape layer_same_shape(struct layer_shape input, size_t width,
                                    const struct layer_options *options);

/* For describe functions: fills in one tensor and counts it. Unused dimensions are 0. */
void tensor_describe(struct tensor *tensors, size_t *count, const char *name, size_t rows, size_t columns);

#endif
