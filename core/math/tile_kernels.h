/* Softmax over rows of scores that are never in memory as a whole, but processed in tiles.
 *
 * Forward, each row keeps its largest score and the sum of exponentials so far (online softmax, Milakov and
 * Gimelshein 2018). Backward, the final two suffice to recompute any weight from its score (FlashAttention,
 * Dao et al. 2022, keeps the logarithm of both together, which rounds large scores: a weight that is exactly
 * 1 would not come back as 1). A tile is [rows][columns] with `stride` floats between rows. Called through
 * core/math/kernels.h. */
#ifndef ATTNLAB_CORE_MATH_TILE_KERNELS_H
#define ATTNLAB_CORE_MATH_TILE_KERNELS_H

#include "core/math/lanes/sets.h"

#include <math.h>
#include <stddef.h>

struct tile {
    float *values;
    size_t rows, columns, stride;
    float scale; /* of the scores */
};

/* The softmax of rows all of whose tiles were seen: w_j = e^(scale (s_j - largest)) inverse_sum. An inverse
 * of 0 makes a row of zeros, NAN a row of NaN. */
struct row_softmax {
    float *largest, *inverse_sums; /* [rows] */
};

/* What exponentials below `before` are multiplied with to be below `largest`. */
static inline float row_softmax_scale_down(float before, float largest, float scale) {
    return before == largest ? 1 : expf(scale * (before - largest));
}

/* tile_softmax: scores become e^(scale (s - largest)), where largest[rows] is the largest score so far, this
 * tile included; sums[rows] is scaled down to it and the tile's exponentials are added. Before the first tile
 * largest is -INFINITY and sums 0; a score of -INFINITY becomes 0.
 *
 * tile_weights: scores become weights. tile_weights_and_means also adds sum_j w_ij gradient_ij to
 * means[rows].
 *
 * tile_backward: weights become the gradients of their scores, scale w_ij (gradient_ij - means_i).
 *
 * Rows of `gradient` are gradient_stride apart; 0: all rows have the same. */
#define DECLARE_TILE_KERNELS(set)                                                                            \
    void tile_softmax_##set(const struct tile *tile, float *largest, float *sums);                           \
    void tile_weights_##set(const struct tile *tile, const struct row_softmax *rows);                        \
    void tile_weights_and_means_##set(const struct tile *tile, const struct row_softmax *rows,               \
                                      const float *gradient, size_t gradient_stride, float *means);          \
    void tile_backward_##set(const struct tile *tile, const float *gradient, size_t gradient_stride,         \
                             const float *means);

FOR_SETS_OF_EIGHT(DECLARE_TILE_KERNELS)

#endif
