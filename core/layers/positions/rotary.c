/* Rotary positions (RoFormer, Su et al. 2021): rotates queries and keys by angles that grow with the step.
 *
 * Neighbours form a pair: at step t, (x[2i], x[2i+1]) rotates by t * 10000^(-2i/D), where D is the width of a
 * head. The product of a query and a key then depends only on their distance. Angles, sines and cosines are
 * computed in double, anew in every forward pass: that takes about 1 % of the training of a transformer on
 * the reviews, and the rotations 8 %. */
#include "core/layers/positions/position.h"

#include <math.h>

/* The cosine and sine of each pair's angle. */
static void fill_rotations(float *rotations, size_t steps, size_t head_width) {
    for (size_t i = 0; i < head_width; i += 2) {
        double frequency = pow(10000, -(double)i / (double)head_width);
        for (size_t t = 0; t < steps; t++) {
            double angle = (double)t * frequency;
            rotations[t * head_width + i] = (float)cos(angle);
            rotations[t * head_width + i + 1] = (float)sin(angle);
        }
    }
}

static void rotate(const float *rotation, float *vector, size_t head_width, bool backward) {
    for (size_t i = 0; i < head_width; i += 2) {
        float cosine = rotation[i], sine = backward ? -rotation[i + 1] : rotation[i + 1];
        float x = vector[i], y = vector[i + 1];
        vector[i] = x * cosine - y * sine;
        vector[i + 1] = x * sine + y * cosine;
    }
}

const struct position position_rotary = {
    .name = "rotary",
    .head_width_multiple = 2,
    .fill_rotations = fill_rotations,
    .rotate = rotate,
};
