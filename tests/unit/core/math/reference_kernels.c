/* The kernels, written like their formulas with the C library's functions: see reference_kernels.h. */
#include "tests/unit/core/math/reference_kernels.h"

#include "core/math/block_kernels.h"
#include "core/math/lanes/sets.h"
#include "core/math/softmax.h"

#include <math.h>

static void hyperbolic_tangent(float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = tanhf(values[i]);
}

static void sigmoid(float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = 1 / (1 + expf(-values[i]));
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

/* The gradient of parameter i, with its weight decay. */
static float gradient_of(float parameter, const float *gradients, size_t rows, size_t stride, size_t i,
                         const struct step_factors *factors) {
    float g = 0;
    for (size_t row = 0; row < rows; row++)
        g += gradients[row * stride + i];
    return g + factors->weight_decay * parameter;
}

static void adam_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                      float *first_moment, float *second_moment, size_t count,
                      const struct step_factors *factors) {
    for (size_t i = 0; i < count; i++) {
        float g = gradient_of(parameters[i], gradients, rows, stride, i, factors);
        float m = first_moment[i] = first_moment[i] * factors->first_decay + factors->first_share * g;
        float v = second_moment[i] = second_moment[i] * factors->second_decay + factors->second_share * g * g;
        float denominator = sqrtf(v) / factors->second_correction + factors->epsilon;
        parameters[i] -= factors->step_size * m / denominator;
    }
}

static void adamw_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                       float *first_moment, float *second_moment, size_t count,
                       const struct step_factors *factors) {
    for (size_t i = 0; i < count; i++)
        parameters[i] *= factors->shrinkage;
    adam_step(parameters, gradients, rows, stride, first_moment, second_moment, count, factors);
}

static void sgd_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                     float *first_moment, float *second_moment, size_t count,
                     const struct step_factors *factors) {
    (void)second_moment;
    for (size_t i = 0; i < count; i++) {
        float g = gradient_of(parameters[i], gradients, rows, stride, i, factors);
        if (factors->first_decay != 0)
            g = first_moment[i] = factors->is_first ? g : factors->first_decay * first_moment[i] + g;
        parameters[i] -= factors->step_size * g;
    }
}

static void rmsprop_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                         float *first_moment, float *second_moment, size_t count,
                         const struct step_factors *factors) {
    for (size_t i = 0; i < count; i++) {
        float g = gradient_of(parameters[i], gradients, rows, stride, i, factors);
        float v = second_moment[i] = second_moment[i] * factors->second_decay + factors->second_share * g * g;
        float change = g / (sqrtf(v) + factors->epsilon);
        if (factors->first_decay != 0)
            change = first_moment[i] = factors->first_decay * first_moment[i] + change;
        parameters[i] -= factors->step_size * change;
    }
}

/* PyTorch's moments: see core/math/block_kernels.h. */
enum { LANES = 8 };

/* Mean and sum of squared differences of `count` numbers. */
static void moments_of(const float *x, size_t count, float *mean, float *squares) {
    float lane_mean[LANES] = {0}, lane_squares[LANES] = {0};
    size_t per_lane = count / LANES;
    for (size_t i = 0; i < per_lane; i++) {
        float share = 1 / (float)(i + 1);
        for (size_t lane = 0; lane < LANES; lane++) {
            float value = x[i * LANES + lane], difference = value - lane_mean[lane];
            lane_mean[lane] += difference * share;
            lane_squares[lane] += difference * (value - lane_mean[lane]);
        }
    }
    float seen = 0;
    *mean = *squares = 0;
    for (size_t i = per_lane * LANES; i < count; i++) {
        float difference = x[i] - *mean;
        seen += 1;
        *mean += difference / seen;
        *squares += difference * (x[i] - *mean);
    }
    for (size_t lane = 0; lane < LANES && per_lane > 0; lane++) {
        float difference = lane_mean[lane] - *mean, share = (float)per_lane / (seen + (float)per_lane);
        *mean += share * difference;
        *squares += lane_squares[lane] + difference * difference * share * seen;
        seen += (float)per_lane;
    }
}

static void layer_norm_forward(const struct norm_rows *rows, float *output) {
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * rows->width;
        float *y = output + row * rows->width;
        float mean, squares;
        moments_of(x, rows->width, &mean, &squares);
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

static void layer_norm_backward(const struct norm_rows *rows, const float *grad_output, float *grad_input,
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

static void add_values(float *sum, const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        sum[i] += values[i];
}

static void relu(const float *input, float *output, size_t count) {
    for (size_t i = 0; i < count; i++)
        output[i] = input[i] > 0 ? input[i] : 0;
}

static void relu_backward(const float *values, const float *gradient, float *result, size_t count) {
    for (size_t i = 0; i < count; i++)
        result[i] = values[i] > 0 ? gradient[i] : 0;
}

const struct kernels kernels_reference = {
    .name = "reference",
    .hyperbolic_tangent = hyperbolic_tangent,
    .softmax_rows = softmax_rows,
    .softmax_rows_backward = softmax_rows_backward,
    .softmax_rows_backward_shared = softmax_rows_backward_shared,
    .add_column_sums = add_column_sums,
    .tanh_backward = tanh_backward,
    .lstm_step = lstm_step,
    .lstm_step_backward = lstm_step_backward,
    .layer_norm_forward = layer_norm_forward,
    .layer_norm_backward = layer_norm_backward,
    .add_values = add_values,
    .relu = relu,
    .relu_backward = relu_backward,
    .attention_head_forward = reference_attention_head_forward,
    .attention_head_backward = reference_attention_head_backward,
    .tile_softmax = reference_tile_softmax,
    .tile_weights = reference_tile_weights,
    .tile_weights_and_means = reference_tile_weights_and_means,
    .tile_backward = reference_tile_backward,
    .shared_scores_forward = reference_shared_scores_forward,
    .shared_scores_backward = reference_shared_scores_backward,
    .tilted_moments = reference_tilted_moments,
    .optimizer_steps = {[OPTIMIZER_ADAM] = adam_step,
                        [OPTIMIZER_ADAMW] = adamw_step,
                        [OPTIMIZER_SGD] = sgd_step,
                        [OPTIMIZER_RMSPROP] = rmsprop_step},
};

size_t kernels_list(const struct kernels *tables[KERNELS_LISTED]) {
    size_t count = 0;
#define TRY(set, runs)                                                                                       \
    if (runs)                                                                                                \
        tables[count++] = &kernels_##set;
    TRY_SETS(TRY)
#undef TRY
    return count;
}
