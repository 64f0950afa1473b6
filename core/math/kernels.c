/* The plain kernels, and the choice between them and the fast ones: see kernels.h. */
#include "core/math/kernels.h"

#include "core/math/attention_head.h"
#include "core/math/block_kernels.h"
#include "core/math/score_kernels.h"
#include "core/math/tile_kernels.h"

#include <math.h>

static void hyperbolic_tangent(float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = tanhf(values[i]);
}

static void sigmoid(float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = 1 / (1 + expf(-values[i]));
}

static void softmax_rows(float *scores, size_t rows, size_t columns, float scale) {
    for (size_t i = 0; i < rows; i++) {
        float *row = scores + i * columns;
        float largest = -INFINITY;
        for (size_t j = 0; j < columns; j++)
            largest = fmaxf(largest, row[j]);
        if (largest == -INFINITY)
            largest = 0;
        float sum = 0;
        for (size_t j = 0; j < columns; j++) {
            row[j] = expf(scale * (row[j] - largest));
            sum += row[j];
        }
        float factor = sum > 0 ? 1 / sum : 0;
        for (size_t j = 0; j < columns; j++)
            row[j] *= factor;
    }
}

static void softmax_rows_backward(const float *weights, float *gradient, size_t rows, size_t columns,
                                  float scale) {
    for (size_t i = 0; i < rows; i++) {
        const float *w = weights + i * columns;
        float *g = gradient + i * columns;
        float mean = 0;
        for (size_t j = 0; j < columns; j++)
            mean += w[j] * g[j];
        for (size_t j = 0; j < columns; j++)
            g[j] = scale * w[j] * (g[j] - mean);
    }
}

static void softmax_rows_backward_shared(float *weights, const float *gradient, size_t rows, size_t columns,
                                         float scale) {
    for (size_t i = 0; i < rows; i++) {
        float *w = weights + i * columns;
        float mean = 0;
        for (size_t j = 0; j < columns; j++)
            mean += w[j] * gradient[j];
        for (size_t j = 0; j < columns; j++)
            w[j] *= scale * (gradient[j] - mean);
    }
}

static void add_column_sums(const float *matrix, size_t rows, size_t columns, float *sums) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            sums[j] += matrix[i * columns + j];
}

static void tanh_backward(const float *y, const float *gradient, float *result, size_t count) {
    for (size_t i = 0; i < count; i++)
        result[i] = gradient[i] * (1 - y[i] * y[i]);
}

static void lstm_step(float *gates, const float *cell_before, float *cell, float *cell_tanh, float *hidden,
                      size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *i = gates + row * 4 * width, *f = i + width, *g = f + width, *o = g + width;
        sigmoid(i, 2 * width);
        hyperbolic_tangent(g, width);
        sigmoid(o, width);
        for (size_t j = 0; j < width; j++) {
            size_t at = row * width + j;
            cell[at] = (cell_before == NULL ? 0 : f[j] * cell_before[at]) + i[j] * g[j];
            cell_tanh[at] = tanhf(cell[at]);
            hidden[at] = o[j] * cell_tanh[at];
        }
    }
}

static void lstm_step_backward(float *gates, const float *cell_before, const float *cell_tanh,
                               const float *grad_hidden, float *grad_cell, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *i = gates + row * 4 * width, *f = i + width, *g = f + width, *o = g + width;
        for (size_t j = 0; j < width; j++) {
            size_t at = row * width + j;
            float before = cell_before == NULL ? 0 : cell_before[at], squashed = cell_tanh[at];
            float to_cell = grad_cell[at] + grad_hidden[at] * o[j] * (1 - squashed * squashed);
            grad_cell[at] = to_cell * f[j];
            float to_i = to_cell * g[j] * i[j] * (1 - i[j]), to_g = to_cell * i[j] * (1 - g[j] * g[j]);
            f[j] = to_cell * before * f[j] * (1 - f[j]);
            o[j] = grad_hidden[at] * squashed * o[j] * (1 - o[j]);
            i[j] = to_i;
            g[j] = to_g;
        }
    }
}

static void largest_of_rows(const float *matrix, size_t rows, size_t columns, float *largest) {
    for (size_t i = 0; i < rows; i++) {
        largest[i] = -INFINITY;
        for (size_t j = 0; j < columns; j++)
            largest[i] = fmaxf(largest[i], matrix[i * columns + j]);
    }
}

static void adam_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                      float *first_moment, float *second_moment, size_t count,
                      const struct adam_factors *factors) {
    for (size_t i = 0; i < count; i++) {
        float g = 0;
        for (size_t row = 0; row < rows; row++)
            g += gradients[row * stride + i];
        float m = first_moment[i] = first_moment[i] * factors->first_decay + factors->first_share * g;
        float v = second_moment[i] = second_moment[i] * factors->second_decay + factors->second_share * g * g;
        float denominator = sqrtf(v) / factors->second_correction + factors->epsilon;
        parameters[i] -= factors->step_size * m / denominator;
    }
}

const struct kernels kernels_plain = {
    .name = "plain",
    .hyperbolic_tangent = hyperbolic_tangent,
    .softmax_rows = softmax_rows,
    .softmax_rows_backward = softmax_rows_backward,
    .softmax_rows_backward_shared = softmax_rows_backward_shared,
    .add_column_sums = add_column_sums,
    .tanh_backward = tanh_backward,
    .lstm_step = lstm_step,
    .lstm_step_backward = lstm_step_backward,
    .layer_norm_forward = layer_norm_forward_plain,
    .layer_norm_backward = layer_norm_backward_plain,
    .add_values = add_values_plain,
    .tile_softmax = tile_softmax_plain,
    .tile_weights = tile_weights_plain,
    .tile_weights_and_means = tile_weights_and_means_plain,
    .tile_backward = tile_backward_plain,
    .relu = relu_plain,
    .relu_backward = relu_backward_plain,
    .attention_head_forward = attention_head_forward_plain,
    .attention_head_backward = attention_head_backward_plain,
    .largest_of_rows = largest_of_rows,
    .shared_scores_forward = shared_scores_forward_plain,
    .shared_scores_backward = shared_scores_backward_plain,
    .tilted_moments = tilted_moments_plain,
    .adam_step = adam_step,
};

const struct kernels *kernels_choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        return &kernels_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_plain;
}
