/* A position for tests only: the first two numbers of every head turn by half a radian per step. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_LAYERS_TURNING_POSITION_H
#define ATTNLAB_TESTS_UNIT_CORE_LAYERS_TURNING_POSITION_H

#include "core/layers/positions/position.h"

#include <math.h>

static inline void turning_fill_rotations(float *rotations, size_t steps, size_t head_width) {
    for (size_t t = 0; t < steps; t++)
        rotations[t * head_width] = 0.5F * (float)t;
}

static inline void turning_rotate(const float *rotation, float *vector, size_t head_width, bool backward) {
    if (head_width < 2)
        return;
    float x = vector[0], y = vector[1], s = sinf(backward ? -rotation[0] : rotation[0]),
          c = cosf(rotation[0]);
    vector[0] = c * x - s * y;
    vector[1] = s * x + c * y;
}

static const struct position turning_position = {
    .name = "turning", .fill_rotations = turning_fill_rotations, .rotate = turning_rotate};

#endif
