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

/* The queries or keys of `count` examples, to be turned by their positions. */
struct rotated_rows pooled_attention_rotated_rows(const struct layer *layer, size_t count);

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

#endif
