/* The parts of a transformer block in plain C: see block_kernels.h. */
#include "core/math/block_kernels.h"

#include <math.h>

struct norm_merge norm_merge_of(size_t width) {
    struct norm_merge merge = {.share = {0}};
    size_t vectors = width / NORM_LANES, rest = width % NORM_LANES;
    float per_lane = (float)vectors, seen = (float)rest;
    for (size_t lane = 0; lane < NORM_LANES && per_lane > 0; lane++) {
        merge.share[lane] = per_lane / (seen + per_lane);
        merge.seen[lane] = seen;
        seen += per_lane;
    }
    return merge;
}

/* Mean and sum of squared differences of `count` numbers. */
static void moments_of(const float *x, size_t count, const struct norm_merge *merge, float *mean,
                       float *squares) {
    float lane_mean[NORM_LANES] = {0}, lane_squares[NORM_LANES] = {0};
    size_t per_lane = count / NORM_LANES;
    for (size_t i = 0; i < per_lane; i++) {
        float share = 1 / (float)(i + 1);
        for (size_t lane = 0; lane < NORM_LANES; lane++) {
            float value = x[i * NORM_LANES + lane], difference = value - lane_mean[lane];
            lane_mean[lane] += difference * share;
            lane_squares[lane] += difference * (value - lane_mean[lane]);
        }
    }
    float seen = 0;
    *mean = *squares = 0;
    for (size_t i = per_lane * NORM_LANES; i < count; i++) {
        float difference = x[i] - *mean;
        seen += 1;
        *mean += difference / seen;
        *squares += difference * (x[i] - *mean);
    }
    for (size_t lane = 0; lane < NORM_LANES && per_lane > 0; lane++) {
        float difference = lane_mean[lane] - *mean;
        *mean += merge->share[lane] * difference;
        *squares += lane_squares[lane] + difference * difference * merge->share[lane] * merge->seen[lane];
    }
}

void layer_norm_forward_plain(const struct norm_rows *rows, float *output) {
    struct norm_merge merge = norm_merge_of(rows->width);
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * rows->width;
        float *y = output + row * rows->width;
        float mean, squares;
        moments_of(x, rows->width, &merge, &mean, &squares);
        float inverse = 1 / sqrtf(squares / (float)rows->width + LAYER_NORM_EPSILON), shift = -inverse * mean;
        for (size_t j = 0; j < rows->width; j++)
            y[j] = fmaf(fmaf(x[j], inverse, shift), rows->weight[j], rows->bias[j]);
        rows->statistics[2 * row] = mean;
        rows->statistics[2 * row + 1] = inverse;
    }
}

/* The gradient with respect to one row x[width], whose mean is `center` and 1 / deviation is `inverse`. */
static void backward_row(const float *weight, const float *x, float center, float inverse,
                         const float *grad_output, float *grad_input, size_t width) {
    double sum = 0, product = 0;
    for (size_t j = 0; j < width; j++) {
        float g = weight[j] * grad_output[j];
        sum += g;
        product += g * ((x[j] - center) * inverse);
    }
    float mean = (float)(sum / (double)width), mean_product = (float)(product / (double)width);
    for (size_t j = 0; j < width; j++)
        grad_input[j] =
            inverse * (weight[j] * grad_output[j] - mean - (x[j] - center) * inverse * mean_product);
}

void layer_norm_backward_plain(const struct norm_rows *rows, const float *grad_output, float *grad_input,
                               float *grad_weight, float *grad_bias) {
    size_t width = rows->width;
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * width, *g = grad_output + row * width;
        float center = rows->statistics[2 * row], inverse = rows->statistics[2 * row + 1];
        for (size_t j = 0; grad_weight != NULL && j < width; j++) {
            grad_weight[j] += g[j] * ((x[j] - center) * inverse);
            grad_bias[j] += g[j];
        }
        if (grad_input != NULL)
            backward_row(rows->weight, x, center, inverse, g, grad_input + row * width, width);
    }
}

void add_values_plain(float *sum, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        sum[i] += values[i];
}

void relu_plain(const float *input, float *output, size_t count) {
    for (size_t i = 0; i < count; i++)
        output[i] = input[i] > 0 ? input[i] : 0;
}

void relu_backward_plain(const float *values, const float *gradient, float *result, size_t count) {
    for (size_t i = 0; i < count; i++)
        result[i] = values[i] > 0 ? gradient[i] : 0;
}
