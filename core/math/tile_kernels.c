/* Softmax in tiles, over lanes: see tile_kernels.h. */
#include "core/math/tile_kernels.h"

#include "core/math/lanes/elementary.h"

#if LANES == 8

#include <math.h>

/* Returns the largest of a row's scaled scores and `before`. */
static float largest_of(const float *row, size_t columns, float scale, float before) {
    const lanes nothing = lanes_broadcast(-INFINITY), factor = lanes_broadcast(scale);
    lanes largest = lanes_broadcast(before);
    for (size_t j = 0; j < columns; j += LANES) {
        lanes_part part = lanes_part_at(j, columns);
        lanes score = lanes_multiply(factor, lanes_load_part(row + j, part));
        largest = lanes_maximum(largest, lanes_select_part(part, score, nothing));
    }
    return lanes_largest(largest);
}

/* Replaces scores by e^(scale s - shift); returns their sum, weighted by weights[columns] unless it is
 * NULL. */
static float exponentiate(float *row, size_t columns, float scale, float shift, const float *weights) {
    const lanes factor = lanes_broadcast(scale), shifts = lanes_broadcast(shift);
    lanes sum = lanes_zero();
    for (size_t j = 0; j < columns; j += LANES) {
        lanes_part part = lanes_part_at(j, columns);
        lanes x = lanes_exp(lanes_multiply_subtract(factor, lanes_load_part(row + j, part), shifts));
        x = lanes_keep_part(part, x);
        lanes_store_part(row + j, part, x);
        sum = weights == NULL ? lanes_add(sum, x)
                              : lanes_multiply_add(x, lanes_load_part(weights + j, part), sum);
    }
    return lanes_sum(sum);
}

void IN_SET(tile_softmax)(const struct tile *tile, float *largest, float *sums) {
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride, before = largest[i];
        largest[i] = largest_of(row, tile->columns, tile->scale, before);
        float shift = largest[i] == -INFINITY ? 0 : largest[i];
        sums[i] = sums[i] * expf(before - shift) + exponentiate(row, tile->columns, tile->scale, shift, NULL);
    }
}

void IN_SET(tile_weights)(const struct tile *tile, const float *normaliser) {
    for (size_t i = 0; i < tile->rows; i++)
        exponentiate(tile->values + i * tile->stride, tile->columns, tile->scale, normaliser[i], NULL);
}

void IN_SET(tile_weights_and_means)(const struct tile *tile, const float *normaliser, const float *gradient,
                                    float *means) {
    for (size_t i = 0; i < tile->rows; i++)
        means[i] += exponentiate(tile->values + i * tile->stride, tile->columns, tile->scale, normaliser[i],
                                 gradient);
}

void IN_SET(tile_backward)(const struct tile *tile, const float *gradient, size_t gradient_stride,
                           const float *means) {
    const lanes scale = lanes_broadcast(tile->scale);
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride;
        const float *g = gradient + i * gradient_stride;
        const lanes mean = lanes_broadcast(means[i]);
        for (size_t j = 0; j < tile->columns; j += LANES) {
            lanes_part part = lanes_part_at(j, tile->columns);
            lanes difference = lanes_subtract(lanes_load_part(g + j, part), mean);
            difference = lanes_multiply(scale, difference);
            lanes_store_part(row + j, part, lanes_multiply(difference, lanes_load_part(row + j, part)));
        }
    }
}

#endif
