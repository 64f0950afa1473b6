/* Softmax over rows of scores that are never in memory as a whole, but processed in tiles.
 *
 * Forward, each row keeps its largest score and the sum of exponentials so far (online softmax, Milakov and
 * Gimelshein 2018). Backward, the logarithm of the final sum suffices to recompute any weight from its score
 * (FlashAttention, Dao et al. 2022). A tile is [rows][columns] with `stride` floats between rows. Called
 * through core/math/kernels.h. */
#ifndef ATTNLAB_CORE_MATH_TILE_KERNELS_H
#define ATTNLAB_CORE_MATH_TILE_KERNELS_H

#include "core/math/lanes/sets.h"

#include <stddef.h>

struct tile {
    float *values;
    size_t rows, columns, stride;
    float scale; /* of the scores */
};

/* tile_softmax: scores become e^(scale s - largest), where largest[rows] is the largest scaled score so far,
 * this tile included; sums[rows] is scaled down to it and the tile's exponentials are added. Before the first
 * tile largest is -INFINITY and sums 0; a score of -INFINITY becomes 0.
 *
 * tile_weights: scores become the weights e^(scale s - normaliser), where normaliser[rows] is the logarithm
 * of a row's sum; INFINITY makes a row of zeros. tile_weights_and_means also adds sum_j w_ij gradient_j to
 * means[rows]; gradient[columns] is with respect to every row.
 *
 * tile_backward: weights become the gradients of their scores, scale w_ij (gradient_j - means_i). Rows of
 * `gradient` are gradient_stride apart; 0: all rows have the same. */
#define DECLARE_TILE_KERNELS(set)                                                                            \
    void tile_softmax_##set(const struct tile *tile, float *largest, float *sums);                           \
    void tile_weights_##set(const struct tile *tile, const float *normaliser);                               \
    void tile_weights_and_means_##set(const struct tile *tile, const float *normaliser,                      \
                                      const float *gradient, float *means);                                  \
    void tile_backward_##set(const struct tile *tile, const float *gradient, size_t gradient_stride,         \
                             const float *means);

FOR_SETS_OF_EIGHT(DECLARE_TILE_KERNELS)

#endif
