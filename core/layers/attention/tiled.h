/* The attention of core/layers/attention/pooled.h for long sequences: memory grows with T, not with T^2.
 *
 * Scores are computed for a block of queries at a time, tile by tile over the keys, and are forgotten: what
 * is kept of a row is the logarithm of its sum of exponentials, from which the backward pass gets each weight
 * back from its score (FlashAttention, Dao et al. 2022; core/math/tile_kernels.h). With c_i that logarithm,
 *
 *   forward:  m_j = mean_i e^(s_ij - c_i)       backward:  r_i = sum_j w_ij a_j,  dS_ij = w_ij (a_j - r_i)
 *
 * so each direction computes the scores once. A block's tiles stay in the second cache. Same tensors, same
 * options, and attention_rows for those who want to see some rows of the weights. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILED_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILED_H

#include "core/layers/layer.h"

extern const struct layer_type layer_tiled_attention;

#endif
