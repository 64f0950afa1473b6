/* One head of attention over one long example without its matrix of weights: FlashAttention (Dao et al.
 * 2022).
 *
 * Scores are computed tile by tile for a block of queries; the context is summed up with a running softmax
 * and scaled down when a larger score appears. Kept of each row is the logarithm of its sum of exponentials;
 * the backward pass computes the scores again and with D_i = dO_i . O_i has dS_ij = w_ij (dO_i . V_j - D_i).
 * Query, key, value, context and their gradients are columns of wider matrices, as in
 * core/math/attention_head.h. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILED_HEAD_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILED_HEAD_H

#include "core/math/attention_head.h"
#include "core/math/kernels.h"

#include <stdint.h>

/* What the functions below work on; head->stride and head->bias are not used. */
struct tiled_head {
    const struct attention_head *head;
    const uint8_t *present; /* keys that are not hidden; NULL: all */
    const struct kernels *kernels;
    float *scratch; /* tiled_head_scratch_size floats */
};

size_t tiled_head_scratch_size(size_t steps, size_t width);

/* context[steps] and normaliser[steps] are written; a query that sees no key gets zeros. */
void tiled_head_forward(const struct tiled_head *tiled, float *normaliser, float *context);

/* From forward's normaliser and context: gradients->query, key and value are written; gradients->scores is
 * not used. */
void tiled_head_backward(const struct tiled_head *tiled, const float *normaliser, const float *context,
                         const struct attention_head_gradients *gradients);

/* weights[queries][steps] of the queries from `first` on, after forward. */
void tiled_head_weights(const struct tiled_head *tiled, const float *normaliser, size_t first, size_t queries,
                        float *weights);

#endif
