/* Scaled dot-product self-attention with one head, averaged over its queries (Vaswani et al. 2017).
 *
 *   Q = h Wq^T + bq, K = h Wk^T + bk, V = h Wv^T + bv,  w = softmax(Q K^T / sqrt(width)),  y = mean_i (w V)_i
 *
 * Maps [count][T][width] to [count][1][width]. Tensors: q.weight, q.bias, k.weight, k.bias, v.weight, v.bias.
 * The output is only the mean, so neither V nor w V is computed: with m_j = mean over the queries of w_ij,
 * y = (sum_j m_j h_j) Wv^T + bv. Backward, with u = Wv^T dy and a_j = h_j . u / T, dS_ij = w_ij (a_j -
 * sum_k w_ik a_k); the addend of bv in a_j is the same for all j and cancels. Padded steps are neither keys
 * nor queries. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_POOLED_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_POOLED_H

#include "core/layers/attention/rotation.h"

/* Options: mask, position (if it rotates). */
extern const struct layer_type layer_pooled_attention;

/* Shared with core/layers/attention/tiled.h, which has the same tensors. */
struct layer_shape pooled_attention_output_shape(struct layer_shape input, size_t width,
                                                 const struct layer_options *options);
size_t pooled_attention_describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);
void pooled_attention_initialise(const struct layer *layer, float *parameters,
                                 struct torch_generator *generator);

/* The tensors in the layer's slice. */
struct pooled_attention_projections {
    const float *query, *query_bias, *key, *key_bias, *value, *value_bias;
};
struct pooled_attention_projections pooled_attention_projections_of(const float *parameters, size_t width);

/* The same for the gradients; all NULL if `gradients` is NULL. */
struct pooled_attention_gradients {
    float *query, *query_bias, *key, *key_bias, *value, *value_bias;
};
struct pooled_attention_gradients pooled_attention_gradients_of(float *gradients, size_t width);

/* Computes query and key, [count][T][width], from the input and rotates them by their positions. Writes
 * rotations[T][width] if the position rotates. */
void pooled_attention_project(const struct layer *layer, const float *parameters, const float *input,
                              size_t count, float *query, float *key, float *rotations);

/* The backward pass: adds to grad_input and grad_parameters; either may be NULL. Rotates the gradients of
 * query and key back in place. */
void pooled_attention_project_backward(const struct layer *layer, const float *parameters, const float *input,
                                       size_t count, const float *rotations, float *grad_query,
                                       float *grad_key, float *grad_input, float *grad_parameters);

#endif
