/* Positions that turn queries and keys (struct position's `rotate`), for every attention layer.
 *
 * A layer that has such a position keeps its rotations in `saved`, turns queries and keys after their
 * projection and turns the gradients of both back before they go through it. Without one nothing is kept or
 * done. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_ROTATION_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_ROTATION_H

#include "core/layers/positions/position.h"

/* Rows of queries or keys: [count][steps][heads][head_width]. */
struct rotated_rows {
    const struct position *position; /* NULL: none */
    size_t count, steps, heads, head_width;
    const uint8_t *present; /* [count][steps], if there are rows for the steps present alone; else NULL */
};

/* Floats of `rotations` for sequences of `steps`; 0 if the position does not rotate. */
size_t rotation_size(const struct position *position, size_t steps, size_t head_width);

/* Writes rotations and turns queries and keys by them. */
void rotation_forward(const struct rotated_rows *rows, float *rotations, float *query, float *key);

/* From the gradients of turned queries and keys to those of the queries and keys before. */
void rotation_backward(const struct rotated_rows *rows, const float *rotations, float *grad_query,
                       float *grad_key);

#endif
