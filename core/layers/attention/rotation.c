/* Rotates queries and keys by their positions: see rotation.h. */
#include "core/layers/attention/rotation.h"

size_t rotation_size(const struct position *position, size_t steps, size_t head_width) {
    return position_rotates(position) ? steps * head_width : 0;
}

static void rotate(const struct rotated_rows *rows, const float *rotations, float *vectors, bool backward) {
    for (size_t i = 0; i < rows->count; i++)
        for (size_t t = 0; t < rows->steps; t++) {
            if (rows->present != NULL && rows->present[i * rows->steps + t] == 0)
                continue;
            const float *rotation = rotations + t * rows->head_width;
            for (size_t h = 0; h < rows->heads; h++, vectors += rows->head_width)
                rows->position->rotate(rotation, vectors, rows->head_width, backward);
        }
}

void rotation_forward(const struct rotated_rows *rows, float *rotations, float *query, float *key) {
    if (!position_rotates(rows->position))
        return;
    rows->position->fill_rotations(rotations, rows->steps, rows->head_width);
    rotate(rows, rotations, query, false);
    rotate(rows, rotations, key, false);
}

void rotation_backward(const struct rotated_rows *rows, const float *rotations, float *grad_query,
                       float *grad_key) {
    if (!position_rotates(rows->position))
        return;
    rotate(rows, rotations, grad_query, true);
    rotate(rows, rotations, grad_key, true);
}
