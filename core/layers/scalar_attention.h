/* The chapter's attention where every step is a single number: the linear layer `inp`, positions, and
 * attention averaged over its queries (linear.h, positions.h, pooled_attention.h) as one layer, many times
 * faster.
 *
 * With input width 1 a step's vector is h_t = x_t u + p_t, where u = inp.weight and p_t = inp.bias + position
 * t. So queries and keys are Q_t = x_t Uq + Pq_t with Uq = Wq u, Pq_t = Wq p_t + bq, likewise K_t, and
 *
 *   Q_i . K_j = x_i x_j (Uq.Uk) + x_i (Uq.Pk_j) + x_j (Pq_i.Uk) + Pq_i.Pk_j:
 *
 * one T x T matrix for the whole batch, and three multiplications for each score of an example. Back, the
 * gradients of the four parts are summed over the batch first and go through U and P once. Averaging needs
 * m_j = mean_i w_ij only: y = Wv (sum_j m_j x_j u + sum_j m_j p_j) + bv. Without positions p_t and so Pk_j
 * are the same for all steps; what they add is then constant in a row and vanishes in softmax. */
#ifndef ATTNLAB_CORE_LAYERS_SCALAR_ATTENTION_H
#define ATTNLAB_CORE_LAYERS_SCALAR_ATTENTION_H

#include "core/layers/layer.h"

/* [count][T][1] to [count][1][width]. Options: position, mask. Tensors, in the order of the three layers'
 * own: inp.weight, inp.bias, pos (where learned), q.weight, q.bias, k.weight, k.bias, v.weight, v.bias. */
extern const struct layer_type layer_scalar_attention;

#endif
