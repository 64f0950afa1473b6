/* The attention of core/layers/attention/pooled.h for long sequences: its memory grows with T, not with T^2.
 *
 * Scores are computed for one block of queries at a time, tile by tile over the keys, and then discarded.
 * Each row keeps its largest score and its sum of exponentials, with which the backward pass recomputes every
 * weight w_ij from its score (FlashAttention, Dao et al. 2022; core/math/tile_kernels.h):
 *
 *   forward:  m_j = mean_i w_ij       backward:  r_i = sum_j w_ij a_j,  dS_ij = w_ij (a_j - r_i)
 *
 * So each direction computes the scores once. A block's tiles stay in the second-level cache. Tensors and
 * options are those of pooled.h; attention_rows computes some rows of the weights. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILED_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILED_H

#include "core/layers/layer.h"

extern const struct layer_type layer_tiled_attention;

#endif
