/* One head of attention over one long example, without a matrix of weights: FlashAttention (Dao et al. 2022).
 *
 * Scores are computed tile by tile for a block of queries. A running softmax accumulates the context and
 * scales it down when a larger score appears. Each row keeps the logarithm of its sum of exponentials. The
 * backward pass recomputes the scores; with D_i = dO_i . O_i, dS_ij = w_ij (dO_i . V_j - D_i). Query, key,
 * value, context and their gradients are columns of wider matrices, as in core/math/attention_head.h. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILED_HEAD_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILED_HEAD_H

#include "core/math/attention_head.h"
#include "core/math/kernels.h"

#include <stdint.h>

/* The arguments of the functions below; they do not use head->stride and head->bias. */
struct tiled_head {
    const struct attention_head *head;
    const uint8_t *present; /* keys that are not hidden; NULL: all */
    const struct kernels *kernels;
    float *scratch; /* tiled_head_scratch_size floats */
};

size_t tiled_head_scratch_size(size_t steps, size_t width);

/* Writes context[steps] and normaliser[steps]; the context of a query that sees no key is zero. */
void tiled_head_forward(const struct tiled_head *tiled, float *normaliser, float *context);

/* Writes gradients->query, key and value from forward's normaliser and context; does not use
 * gradients->scores. */
void tiled_head_backward(const struct tiled_head *tiled, const float *normaliser, const float *context,
                         const struct attention_head_gradients *gradients);

/* Call after forward. Writes weights[queries][steps] for the queries from `first` on. */
void tiled_head_weights(const struct tiled_head *tiled, const float *normaliser, size_t first, size_t queries,
                        float *weights);

#endif
