/* Multi-head self-attention (Vaswani et al. 2017): softmax(Q K^T / sqrt(d_k)) V for every head, side by side.
 *
 * Two layers share the mathematics and differ in their parameters. One has four Linears for query, key, value
 * and output, like the lab sheet's class. The other has the parameters of PyTorch's nn.MultiheadAttention,
 * which keeps the first three in one tensor and draws them differently. Keys at padding (pass->present) and,
 * with the causal mask, keys after the query get weight 0; a query that sees no key gets a row of zeros. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_MULTI_HEAD_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_MULTI_HEAD_H

#include "core/layers/attention/attention.h"

/* Options: heads (must divide the width), mask, position (if it rotates). Tensors: q.weight [width][width],
 * q.bias [width], the same for k, v and out. */
extern const struct layer_type layer_multi_head_attention;
/* Tensors: in_proj_weight [3 width][width], in_proj_bias [3 width], out_proj.weight, out_proj.bias. */
extern const struct layer_type layer_torch_multi_head_attention;

/* The offsets of the tensors, in floats from the start of the parameters. */
struct multi_head_layout {
    size_t query_weight, query_bias, key_weight, key_bias, value_weight, value_bias, output_weight,
        output_bias;
    size_t parameter_count;
};
struct multi_head_layout multi_head_layout_separate(size_t width);
struct multi_head_layout multi_head_layout_torch(size_t width);

struct multi_head_shape {
    size_t count, steps, width, heads;
    enum attention_head_algorithm algorithm;
    enum attention_mask mask;
    double score_divisor;            /* see attention_score_divisor */
    const struct position *position; /* has an effect only if it rotates */
    bool skips_padding;              /* the matrices have only the rows of the steps present, packed */
};

/* Returns the shape of a layer for `count` examples; it does not skip padding. */
struct multi_head_shape multi_head_shape_of(const struct layer *layer, size_t count);

/* The rows of the matrices: count * steps, or the number of steps present. */
size_t multi_head_row_count(const struct multi_head_shape *shape, const struct layer_pass *pass);

/* For the layers above and the encoder block. Describes the tensors, with `prefix` before each name. */
void multi_head_describe(size_t width, bool torch_layout, const char *prefix, struct tensor *tensors,
                         size_t *count);
void multi_head_initialise(size_t width, bool torch_layout, float *parameters,
                           struct torch_generator *generator);

/* `saved` holds query, key, value and context, each [rows][width], then the weights of each example and head,
 * then the rotations. */
size_t multi_head_saved_size(const struct multi_head_shape *shape);
size_t multi_head_scratch_size(const struct multi_head_shape *shape);
/* Call after forward. Writes weights[count][heads][queries][steps] for the queries from `first` on, 0 if the
 * query or the key is skipped padding. */
void multi_head_write_weights(const struct multi_head_shape *shape, const float *saved,
                              const struct layer_pass *pass, size_t first, size_t queries, float *weights);

void multi_head_forward(const struct multi_head_shape *shape, const struct multi_head_layout *layout,
                        const float *parameters, const float *input, float *output, float *saved,
                        const struct layer_pass *pass);
/* Overwrites grad_input and adds to grad_parameters; either may be NULL. */
void multi_head_backward(const struct multi_head_shape *shape, const struct multi_head_layout *layout,
                         const float *parameters, const float *input, float *saved, const float *grad_output,
                         float *grad_input, float *grad_parameters, const struct layer_pass *pass);

#endif
