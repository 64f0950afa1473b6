/* The plain kernels, and the choice between them and the fast ones: see kernels.h. */
#include "core/math/kernels.h"

#include <math.h>

static void exponential(float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = expf(values[i]);
}

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

const struct kernels kernels_plain = {
    .name = "plain",
    .exponential = exponential,
    .hyperbolic_tangent = hyperbolic_tangent,
    .sigmoid = sigmoid,
    .softmax_rows = softmax_rows,
    .softmax_rows_backward = softmax_rows_backward,
};

const struct kernels *kernels_choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &kernels_avx2;
#endif
    return &kernels_plain;
}
