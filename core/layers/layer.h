/* The interface of a layer.
 *
 * A layer maps [count][steps][width] floats to another such block and can propagate gradients back. Its type
 * is a table of functions, one file per type in this folder; a struct layer holds one layer's configuration.
 * A layer owns no memory: its parameters are a slice of the model's flat array, its activations lie in the
 * caller's arena. All matrices are row-major; a batch is [count][steps][width] without gaps.
 *
 * May call math and random (initial values). The subfolders positions, attention and blocks are layers above
 * this one. Called by model and experiments. */
#ifndef ATTNLAB_CORE_LAYERS_LAYER_H
#define ATTNLAB_CORE_LAYERS_LAYER_H

#include "core/math/kernels.h"
#include "core/stop_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct torch_generator; /* core/random/torch_random.h */

/* One example: `steps` rows of `width` numbers. For token ids the width is 0. */
struct layer_shape {
    size_t steps, width;
};

enum activation { ACTIVATION_RELU, ACTIVATION_GELU };

/* Where a block normalises: after each residual connection, or before each part. */
enum block_norm { BLOCK_NORM_LAST, BLOCK_NORM_FIRST };

/* Whether a query sees the keys after it. */
enum attention_mask { ATTENTION_MASK_NONE, ATTENTION_MASK_CAUSAL };

struct position; /* core/layers/positions/position.h */

struct layer_options {
    size_t heads;                    /* attention; layer_make turns 0 into 1 */
    enum attention_mask mask;        /* attention */
    bool unscaled_scores;            /* attention: the scores are not divided by sqrt(head width) */
    const struct position *position; /* attention: may rotate; scalar attention: may also add; NULL: none */
    enum block_norm norm;            /* encoder block */
    bool skips_padding;              /* encoder block: leaves its output at padding 0, as nothing reads it */
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
    size_t parameter_offset; /* of its slice in the model's flat array; model_add_layer sets it */
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

/* The context of a call besides its matrices: the part of a batch that one thread handles. */
struct layer_pass {
    const struct kernels *kernels;
    size_t count;           /* examples in this part */
    const int32_t *tokens;  /* [count][steps] ids, for a first layer that reads tokens; else NULL */
    const uint8_t *present; /* [count][steps]: 1 at a real step, 0 at padding; NULL: no padding */
    float *scratch;         /* scratch_size floats; need not survive between calls */
    /* After a stop request forward and backward may return early. Their output is then meaningless, so the
     * caller must check for the request too. May be NULL. */
    const struct stop_request *stop;
};

static inline bool layer_pass_is_stopped(const struct layer_pass *pass) {
    return stop_is_requested(pass->stop);
}

struct layer_type {
    const char *name; /* for people: "LSTM" */

    /* Whether much of a pass costs the same for one example as for many; a batch then has fewer parts. */
    bool shares_work;

    /* Computes the output's shape from the input's shape and the options. */
    struct layer_shape (*output_shape)(struct layer_shape input, size_t width,
                                       const struct layer_options *options);

    /* Fills in name, rank and shape of the tensors in the order of the flat array, which is the order in
     * which the PyTorch class creates them; returns their number. layer_tensors adds the offsets. NULL: no
     * parameters. */
    size_t (*describe)(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);

    /* Draws the initial values in PyTorch's order. NULL: draws nothing. */
    void (*initialise)(const struct layer *layer, float *parameters, struct torch_generator *generator);

    /* For `count` examples: the floats that must survive from forward to backward, not counting input and
     * output; and the floats that forward or backward needs while it runs. NULL: none. */
    size_t (*saved_size)(const struct layer *layer, size_t count);
    size_t (*scratch_size)(const struct layer *layer, size_t count);

    /* The arithmetic of a forward pass over one example beyond its parameters' own, which layer_operations
     * counts: the scores of attention, for example. NULL: none. */
    double (*further_operations)(const struct layer *layer);
    /* Whether a pass does not multiply each step by all parameters: an embedding reads one row of them. */
    bool spares_products;

    /* Computes output[count][output.steps][output.width] from input[count][input.steps][input.width]. */
    void (*forward)(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass);

    /* Takes input, output and saved as forward left them. Writes grad_input and adds to grad_parameters;
     * either may be NULL. May overwrite grad_output and saved. NULL: a layer that is only measured. */
    void (*backward)(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass);

    /* Writes weights[count][heads][queries][keys]. Call it after forward with the same arguments, before
     * backward. NULL: not an attention layer. */
    void (*attention)(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass);

    /* For layers that need not keep the matrix, instead of `attention` or in addition to it: writes
     * weights[count][heads][queries][keys] for the queries from `first` on. */
    void (*attention_rows)(const struct layer *layer, const float *parameters, const float *input,
                           float *saved, size_t first, size_t queries, float *weights,
                           const struct layer_pass *pass);
};

/* Configures a layer: fills in its output shape and parameter count. `width` is the output's width for layers
 * that choose one (linear, RNN, embedding); the others ignore it. `options` may be NULL. */
struct layer layer_make(const struct layer_type *type, const char *name, struct layer_shape input,
                        size_t width, const struct layer_options *options);

/* Lists the tensors with their offsets within the layer's slice; returns their number. */
size_t layer_tensors(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);
size_t tensor_element_count(const struct tensor *tensor);

/* The operations of a forward pass over one example: a multiplication and an addition with each parameter at
 * each step, and the layer's further ones. An estimate for limits on the time of a run: small layers are
 * given the overhead that their loops have. Backward takes about twice as many. */
double layer_operations(const struct layer *layer);

size_t layer_saved_size(const struct layer *layer, size_t count);
size_t layer_scratch_size(const struct layer *layer, size_t count);

/* The output_shape of layers that keep the input's shape. */
struct layer_shape layer_same_shape(struct layer_shape input, size_t width,
                                    const struct layer_options *options);

/* The backward pass of layers whose output is their input plus a constant: grad_input is grad_output. */
void layer_copy_backward(const struct layer *layer, const float *parameters, const float *input,
                         const float *output, float *saved, float *grad_output, float *grad_input,
                         float *grad_parameters, const struct layer_pass *pass);

/* For `describe` functions: fills in one tensor and increments *count. Pass 0 for unused dimensions. */
void tensor_describe(struct tensor *tensors, size_t *count, const char *name, size_t rows, size_t columns);

#endif
