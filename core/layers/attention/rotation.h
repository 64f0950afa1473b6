/* Rotates queries and keys by their positions (struct position's `rotate`), for every attention layer.
 *
 * A layer with such a position keeps the rotations in `saved`. It rotates queries and keys after their
 * projection, and rotates their gradients back before the projection's backward pass. Without such a position
 * these functions do nothing. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_ROTATION_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_ROTATION_H

#include "core/layers/positions/position.h"

/* Rows of queries or keys: [count][steps][heads][head_width]. */
struct rotated_rows {
    const struct position *position; /* NULL: none */
    size_t count, steps, heads, head_width;
    const uint8_t *present; /* [count][steps], if only the steps present have rows; else NULL */
};

/* The floats in `rotations` for sequences of `steps`; 0 if the position does not rotate. */
size_t rotation_size(const struct position *position, size_t steps, size_t head_width);

/* Writes the rotations and rotates queries and keys by them. */
void rotation_forward(const struct rotated_rows *rows, float *rotations, float *query, float *key);

/* Turns the gradients of the rotated queries and keys into those of the original ones. */
void rotation_backward(const struct rotated_rows *rows, const float *rotations, float *grad_query,
                       float *grad_key);

#endif
