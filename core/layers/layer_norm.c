/* Layer normalisation: see layer_norm.h. */
#include "core/layers/layer_norm.h"

#include <math.h>

static const float epsilon = 1e-5f;

enum { LANES = 8 };

/* Mean and sum of squared differences of `count` numbers, by Welford's method in eight lanes side by side,
 * which are then merged (Chan, Golub and LeVeque 1979): PyTorch's RowwiseMoments, to the bit up to 128
 * numbers. */
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
        float total = seen + (float)per_lane, share = (float)per_lane / total;
        float difference = lane_mean[lane] - *mean;
        *mean += share * difference;
        *squares += lane_squares[lane] + difference * difference * share * seen;
        seen = total;
    }
}

void layer_norm_forward(const float *weight, const float *bias, const float *input, float *output,
                        float *statistics, size_t rows, size_t width, const struct kernels *kernels) {
    for (size_t row = 0; row < rows; row++) {
        const float *x = input + row * width;
        float mean, squares;
        moments_of(x, width, &mean, &squares);
        float inverse = 1 / sqrtf(squares / (float)width + epsilon), shift = -inverse * mean;
        kernels->normalise_row(x, inverse, shift, weight, bias, output + row * width, width);
        statistics[2 * row] = mean;
        statistics[2 * row + 1] = inverse;
    }
}

/* With n = (x - mean) / deviation and g = weight * grad_output the gradient of a row is
 * (g - mean(g) - n mean(g n)) / deviation. */
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

void layer_norm_backward(const float *weight, const float *input, const float *statistics,
                         const float *grad_output, float *grad_input, float *grad_weight, float *grad_bias,
                         size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        const float *x = input + row * width, *g = grad_output + row * width;
        float center = statistics[2 * row], inverse = statistics[2 * row + 1];
        if (grad_weight != NULL)
            for (size_t j = 0; j < width; j++) {
                grad_weight[j] += g[j] * ((x[j] - center) * inverse);
                grad_bias[j] += g[j];
            }
        if (grad_input != NULL)
            backward_row(weight, x, center, inverse, g, grad_input + row * width, width);
    }
}

void layer_norm_initialise(float *weight, float *bias, size_t width) {
    for (size_t j = 0; j < width; j++) {
        weight[j] = 1;
        bias[j] = 0;
    }
}

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)width;
    (void)options;
    return input;
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    tensor_describe(tensors, &count, "weight", layer->input.width, 0);
    tensor_describe(tensors, &count, "bias", layer->input.width, 0);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    (void)generator;
    layer_norm_initialise(parameters, parameters + layer->input.width, layer->input.width);
}

/* The statistics of every row. */
static size_t saved_size(const struct layer *layer, size_t count) {
    return 2 * count * layer->input.steps;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    layer_norm_forward(parameters, parameters + layer->input.width, input, output, saved,
                       pass->count * layer->input.steps, layer->input.width, pass->kernels);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    layer_norm_backward(parameters, input, saved, grad_output, grad_input, grad_parameters,
                        grad_parameters == NULL ? NULL : grad_parameters + layer->input.width,
                        pass->count * layer->input.steps, layer->input.width);
}

const struct layer_type layer_layer_norm = {
    .name = "layer norm",
    .output_shape = output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .forward = forward,
    .backward = backward,
};
