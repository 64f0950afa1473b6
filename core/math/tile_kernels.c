/* Softmax in tiles, over lanes: see tile_kernels.h. */
#include "core/math/tile_kernels.h"

#include "core/math/lanes/elementary.h"
#include "core/math/shared_scores.h"

#if LANES == 8

#include <math.h>
#include <string.h>

/* Returns the largest of a row's scores and `before`. */
static float largest_of(const float *row, size_t columns, float before) {
    const lanes nothing = lanes_broadcast(-INFINITY);
    lanes largest = lanes_broadcast(before);
    for (size_t j = 0; j < columns; j += LANES) {
        lanes_part part = lanes_part_at(j, columns);
        largest = lanes_maximum(largest, lanes_select_part(part, lanes_load_part(row + j, part), nothing));
    }
    return lanes_largest(largest);
}

/* e^(scale (s - largest)) of some scores of a row, as a power of two. It is exactly 1 for the largest itself.
 */
struct row_power {
    lanes largest, factor; /* scale log2 e */
};

static struct row_power power_below(float largest, float scale) {
    return (struct row_power){lanes_broadcast(largest == -INFINITY ? 0 : largest),
                              lanes_broadcast(scale * LOG2_OF_E)};
}

static inline lanes power_of(struct row_power power, const float *scores, lanes_part part) {
    lanes difference = lanes_subtract(lanes_load_part(scores, part), power.largest);
    return lanes_exp2(lanes_multiply(power.factor, difference));
}

/* Replaces scores by their powers; returns the sum. */
static float exponentiate(float *row, size_t columns, struct row_power power) {
    lanes sum = lanes_zero();
    for (size_t j = 0; j < columns; j += LANES) {
        lanes_part part = lanes_part_at(j, columns);
        lanes x = lanes_keep_part(part, power_of(power, row + j, part));
        lanes_store_part(row + j, part, x);
        sum = lanes_add(sum, x);
    }
    return lanes_sum(sum);
}

void IN_SET(tile_softmax)(const struct tile *tile, float *largest, float *sums) {
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride, before = largest[i];
        largest[i] = largest_of(row, tile->columns, before);
        sums[i] = sums[i] * row_softmax_scale_down(before, largest[i], tile->scale) +
                  exponentiate(row, tile->columns, power_below(largest[i], tile->scale));
    }
}

/* Replaces the scores of row i by its weights; returns the sum of weight times gradient[columns], if there is
 * one. */
static float weights_of_row(const struct tile *tile, const struct row_softmax *rows, size_t i,
                            const float *gradient) {
    float *row = tile->values + i * tile->stride;
    if (rows->inverse_sums[i] == 0) { /* whatever the scores */
        memset(row, 0, tile->columns * sizeof *row);
        return 0;
    }
    const struct row_power power = power_below(rows->largest[i], tile->scale);
    const lanes inverse = lanes_broadcast(rows->inverse_sums[i]);
    lanes sum = lanes_zero();
    for (size_t j = 0; j < tile->columns; j += LANES) {
        lanes_part part = lanes_part_at(j, tile->columns);
        lanes x = lanes_keep_part(part, lanes_multiply(inverse, power_of(power, row + j, part)));
        lanes_store_part(row + j, part, x);
        if (gradient != NULL)
            sum = lanes_multiply_add(x, lanes_load_part(gradient + j, part), sum);
    }
    return gradient == NULL ? 0 : lanes_sum(sum);
}

void IN_SET(tile_weights)(const struct tile *tile, const struct row_softmax *rows) {
    for (size_t i = 0; i < tile->rows; i++)
        weights_of_row(tile, rows, i, NULL);
}

void IN_SET(tile_weights_and_means)(const struct tile *tile, const struct row_softmax *rows,
                                    const float *gradient, size_t gradient_stride, float *means) {
    for (size_t i = 0; i < tile->rows; i++)
        means[i] += weights_of_row(tile, rows, i, gradient + i * gradient_stride);
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
