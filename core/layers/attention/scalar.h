/* The chapter's attention over numbers: input projection, positions, and attention averaged over its queries,
 * as one layer from [count][T][1] to [count][1][width]. It replaces the sequence of layer_linear ("inp"), the
 * positions' layer and layer_pooled_attention, and has their tensors in their order. With one number per step
 * most of their work is the same for all examples, so it is done once.
 *
 * A step is h_t = x_t u + p_t, where u is the input weight and p_t is the bias plus the position. So the
 * query is x_t Uq + Pq_t, with Uq = Wq u and Pq_t = Wq p_t + bq, the key likewise, and the scores are
 *
 *   S_ij = x_i x_j (Uq.Uk) + x_i (Uq.Pk_j) + x_j (Pq_i.Uk) + Pq_i.Pk_j
 *
 * The expressions in parentheses and the last term are common to the batch: all examples share one T x T
 * matrix (core/math/shared_scores.h), and per example a score costs two multiplications and its exponential.
 * The output is (sum_j m_j h_j) Wv^T + bv, where m_j is the mean over queries of w_ij, and sum_j m_j h_j =
 * (sum_j m_j x_j) u + sum_j m_j p_j. Backward, the gradients of the four parts of S are sums over the batch
 * of the same form; the products with Wq and Wk follow once for the batch. This is scalar.c.
 *
 * Without positions and mask p_t is the same for all t, and terms that depend only on i cancel in the
 * softmax: w_ij = softmax_j(f_i x_j) with f_i = (x_i Uq.Uk + Pq.Uk) / sqrt(width). A row then needs only the
 * mean mu_i and the variance of x under its weights: m.x is the mean of mu_i, and d mu_i / d f_i is the
 * variance. No gradient reaches bk, nor Wk along p. This is unplaced.c, whose memory grows with T, not with
 * T^2. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_SCALAR_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_SCALAR_H

#include "core/layers/layer.h"

/* Options: mask, and a position that does not rotate. The second layer is for neither mask nor position. */
extern const struct layer_type layer_scalar_attention, layer_unplaced_attention;

/* The tensors in the slice; `positions` are the parameters of the position's layer, NULL without one.
 * Gradients have the same parts. */
struct scalar_attention_parts {
    float *input_weight; /* [width]: u */
    float *input_bias;   /* [width] */
    float *positions;
    float *query_weight, *query_bias, *key_weight, *key_bias, *value_weight, *value_bias;
};
struct scalar_attention_parts scalar_attention_parts_of(const struct layer *layer, const float *parameters);

size_t scalar_attention_describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]);
void scalar_attention_initialise(const struct layer *layer, float *parameters,
                                 struct torch_generator *generator);
struct layer_shape scalar_attention_output_shape(struct layer_shape input, size_t width,
                                                 const struct layer_options *options);

/* The layer that would add the position; false if nothing is added. */
bool scalar_attention_position_layer(const struct layer *layer, struct layer *position);

/* Return how many of the example's steps are real, and whether a step is. */
size_t scalar_attention_real_steps(const struct layer *layer, size_t example, const struct layer_pass *pass);
bool scalar_attention_is_real(const struct layer *layer, size_t example, size_t step,
                              const struct layer_pass *pass);

/* Returns 1 / attention_score_divisor times log2(e), because the softmax uses base 2. */
float scalar_attention_score_scale(const struct layer *layer);

float scalar_attention_dot(const float *a, const float *b, size_t count);

#endif
