/* Scaled dot-product self-attention with one head, averaged over its queries (Vaswani et al. 2017).
 *
 *   Q = h Wq^T + bq, K = h Wk^T + bk, V = h Wv^T + bv,  w = softmax(Q K^T / sqrt(width)),  y = mean_i (w V)_i
 *
 * Tensors q.weight, q.bias, k.weight, k.bias, v.weight, v.bias. [count][T][width] to [count][1][width]. Only
 * the mean is asked for, so neither V nor w V is ever formed: with m_j = mean over the queries of w_ij, y =
 * (sum_j m_j h_j) Wv^T + bv. Back: with u = Wv^T dy and a_j = h_j . u / T, dS_ij = w_ij (a_j - sum_k w_ik
 * a_k) (what bv adds to a_j is the same for all j and cancels). Padded steps are neither keys nor queries. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_POOLED_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_POOLED_H

#include "core/layers/attention/rotation.h"

/* Options: mask, position (if it rotates). */
extern const struct layer_type layer_pooled_attention;

/* What core/layers/attention/tiled.h shares: the same tensors, in another algorithm. */
struct layer_shape pooled_attention_output_shape(struct layer_shape input, size_t width,
                                                 const struct layer_options *options);
size_t pooled_attention_describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);
void pooled_attention_initialise(const struct layer *layer, float *parameters,
                                 struct torch_generator *generator);

/* The tensors within the layer's slice. */
struct pooled_attention_projections {
    const float *query, *query_bias, *key, *key_bias, *value, *value_bias;
};
struct pooled_attention_projections pooled_attention_projections_of(const float *parameters, size_t width);

/* The same of the gradients; all NULL where `gradients` is. */
struct pooled_attention_gradients {
    float *query, *query_bias, *key, *key_bias, *value, *value_bias;
};
struct pooled_attention_gradients pooled_attention_gradients_of(float *gradients, size_t width);

/* query and key, [count][T][width], from the input, turned by their positions; rotations[T][width] are
 * written if the position rotates. */
void pooled_attention_project(const struct layer *layer, const float *parameters, const float *input,
                              size_t count, float *query, float *key, float *rotations);

/* The way back: adds to grad_input and grad_parameters (either NULL: not wanted). The gradients of query and
 * key are turned back. */
void pooled_attention_project_backward(const struct layer *layer, const float *parameters, const float *input,
                                       size_t count, const float *rotations, float *grad_query,
                                       float *grad_key, float *grad_input, float *grad_parameters);

#endif
