/* One head of attention over one long example, without a matrix of weights: FlashAttention (Dao et al. 2022).
 *
 * Scores are computed tile by tile for a block of queries. A running softmax accumulates the context and
 * scales it down when a larger score appears. Each row keeps its largest score and its sum of exponentials.
 * The backward pass recomputes the weights; with g_ij = dO_i . V_j, dS_ij = w_ij (g_ij - sum_k w_ik g_ik).
 * The paper takes the sum from dO_i . O_i, whose other roundings leave noise where a weight is exactly 1 and
 * its gradient exactly 0; here a block of queries keeps its tiles against all keys instead. Query, key,
 * value, context and their gradients are columns of wider matrices, as in core/math/attention_head.h. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILED_HEAD_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILED_HEAD_H

#include "core/math/attention_head.h"
#include "core/math/kernels.h"
#include "core/math/tile_kernels.h"

#include <stdint.h>

/* The arguments of the functions below; they do not use head->stride and head->limits. */
struct tiled_head {
    const struct attention_head *head;
    const uint8_t *present; /* keys that are not hidden; NULL: all */
    const struct kernels *kernels;
    float *scratch; /* tiled_head_scratch_size floats */
};

size_t tiled_head_scratch_size(size_t steps, size_t width);

/* Writes context[steps] and rows[steps]; the context of a query that sees no key is zero. */
void tiled_head_forward(const struct tiled_head *tiled, const struct row_softmax *rows, float *context);

/* Writes gradients->query, key and value from forward's rows; does not use gradients->scores. */
void tiled_head_backward(const struct tiled_head *tiled, const struct row_softmax *rows,
                         const struct attention_head_gradients *gradients);

/* Call after forward. Writes weights[queries][steps] for the queries from `first` on. */
void tiled_head_weights(const struct tiled_head *tiled, const struct row_softmax *rows, size_t first,
                        size_t queries, float *weights);

#endif
