/* Softmax in tiles, in plain C: see tile_kernels.h. */
#include "core/math/tile_kernels.h"

#include <math.h>

void tile_softmax_plain(const struct tile *tile, float *largest, float *sums) {
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride, before = largest[i], sum = 0;
        for (size_t j = 0; j < tile->columns; j++)
            largest[i] = fmaxf(largest[i], tile->scale * row[j]);
        float shift = largest[i] == -INFINITY ? 0 : largest[i];
        for (size_t j = 0; j < tile->columns; j++) {
            row[j] = expf(tile->scale * row[j] - shift);
            sum += row[j];
        }
        sums[i] = sums[i] * expf(before - shift) + sum;
    }
}

void tile_weights_plain(const struct tile *tile, const float *normaliser) {
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++) {
            float *value = tile->values + i * tile->stride + j;
            *value = expf(tile->scale * *value - normaliser[i]);
        }
}

void tile_weights_and_means_plain(const struct tile *tile, const float *normaliser, const float *gradient,
                                  float *means) {
    tile_weights_plain(tile, normaliser);
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++)
            means[i] += tile->values[i * tile->stride + j] * gradient[j];
}

void tile_backward_plain(const struct tile *tile, const float *gradient, size_t gradient_stride,
                         const float *means) {
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++)
            tile->values[i * tile->stride + j] *=
                tile->scale * (gradient[i * gradient_stride + j] - means[i]);
}
