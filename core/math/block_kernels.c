/* The parts of a transformer block, over lanes: see block_kernels.h. */
#include "core/math/block_kernels.h"

#include "core/math/lanes/lanes.h"

#if LANES == 8

#include <math.h>

/* The divisors in the merging of lanes depend only on the width. Lane k is merged with the factor `share[k]`;
 * the squared difference of its mean has the factor `seen[k] * share[k]`. */
struct norm_merge {
    float share[LANES], seen[LANES];
};

static struct norm_merge norm_merge_of(size_t width) {
    struct norm_merge merge = {.share = {0}};
    size_t vectors = width / LANES, rest = width % LANES;
    float per_lane = (float)vectors, seen = (float)rest;
    for (size_t lane = 0; lane < LANES && per_lane > 0; lane++) {
        merge.share[lane] = per_lane / (seen + per_lane);
        merge.seen[lane] = seen;
        seen += per_lane;
    }
    return merge;
}

/* Computes the mean and squares of the numbers after the last whole vector of a row. */
static void moments_of_rest(const float *x, size_t count, float *mean, float *squares) {
    float seen = 0;
    *mean = *squares = 0;
    for (size_t i = 0; i < count; i++) {
        float difference = x[i] - *mean;
        seen += 1;
        *mean += difference / seen;
        *squares += difference * (x[i] - *mean);
    }
}

static void moments_of(const float *x, size_t count, const struct norm_merge *merge, float *mean,
                       float *squares) {
    lanes lane_mean = lanes_zero(), lane_squares = lanes_zero();
    size_t full = count / LANES * LANES;
    size_t seen = 0;
    for (size_t i = 0; i < full; i += LANES) {
        seen++;
        lanes share = lanes_broadcast(1 / (float)seen), value = lanes_load(x + i);
        lanes difference = lanes_subtract(value, lane_mean);
        lane_mean = lanes_add(lane_mean, lanes_multiply(difference, share));
        lane_squares = lanes_add(lane_squares, lanes_multiply(difference, lanes_subtract(value, lane_mean)));
    }
    float means[LANES], products[LANES];
    lanes_store(means, lane_mean);
    lanes_store(products, lane_squares);
    moments_of_rest(x + full, count - full, mean, squares);
    for (size_t lane = 0; lane < LANES && full > 0; lane++) {
        float difference = means[lane] - *mean;
        *mean += merge->share[lane] * difference;
        *squares += products[lane] + difference * difference * merge->share[lane] * merge->seen[lane];
    }
}

void IN_SET(layer_norm_forward)(const struct norm_rows *rows, float *output) {
    struct norm_merge merge = norm_merge_of(rows->width);
    size_t width = rows->width;
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * width;
        float *y = output + row * width;
        float mean, squares;
        moments_of(x, width, &merge, &mean, &squares);
        float inverse = 1 / sqrtf(squares / (float)width + LAYER_NORM_EPSILON);
        const lanes factor = lanes_broadcast(inverse), shift = lanes_broadcast(-inverse * mean);
        for (size_t j = 0; j < width; j += LANES) {
            lanes_part part = lanes_part_at(j, width);
            lanes normal = lanes_fused_multiply_add(lanes_load_part(x + j, part), factor, shift);
            normal = lanes_fused_multiply_add(normal, lanes_load_part(rows->weight + j, part),
                                              lanes_load_part(rows->bias + j, part));
            lanes_store_part(y + j, part, normal);
        }
        rows->statistics[2 * row] = mean;
        rows->statistics[2 * row + 1] = inverse;
    }
}

static void backward_row(const float *weight, const float *x, float mean_of_x, float inverse,
                         const float *grad_output, float *grad_input, size_t width) {
    const lanes center = lanes_broadcast(mean_of_x), factor = lanes_broadcast(inverse);
    lanes_double sum = lanes_double_zero(), product = lanes_double_zero();
    for (size_t j = 0; j < width; j += LANES) {
        lanes_part part = lanes_part_at(j, width);
        lanes normal = lanes_multiply(lanes_subtract(lanes_load_part(x + j, part), center), factor);
        lanes g = lanes_multiply(lanes_load_part(weight + j, part), lanes_load_part(grad_output + j, part));
        sum = lanes_double_add(sum, g);
        product = lanes_double_add(product, lanes_multiply(g, normal));
    }
    const lanes mean = lanes_broadcast((float)(lanes_double_sum(sum) / (double)width)),
                mean_product = lanes_broadcast((float)(lanes_double_sum(product) / (double)width));
    for (size_t j = 0; j < width; j += LANES) {
        lanes_part part = lanes_part_at(j, width);
        lanes normal = lanes_multiply(lanes_subtract(lanes_load_part(x + j, part), center), factor);
        lanes g = lanes_multiply(lanes_load_part(weight + j, part), lanes_load_part(grad_output + j, part));
        g = lanes_subtract(lanes_subtract(g, mean), lanes_multiply(normal, mean_product));
        lanes_store_part(grad_input + j, part, lanes_multiply(factor, g));
    }
}

/* Adds one row's part of the gradients of weight and bias. */
static void add_row(const float *x, float mean_of_x, float inverse, const float *grad_output,
                    float *grad_weight, float *grad_bias, size_t width) {
    const lanes center = lanes_broadcast(mean_of_x), factor = lanes_broadcast(inverse);
    for (size_t j = 0; j < width; j += LANES) {
        lanes_part part = lanes_part_at(j, width);
        lanes normal = lanes_multiply(lanes_subtract(lanes_load_part(x + j, part), center), factor);
        lanes g = lanes_load_part(grad_output + j, part);
        lanes weight = lanes_add(lanes_load_part(grad_weight + j, part), lanes_multiply(g, normal));
        lanes bias = lanes_add(lanes_load_part(grad_bias + j, part), g);
        lanes_store_part(grad_weight + j, part, weight);
        lanes_store_part(grad_bias + j, part, bias);
    }
}

void IN_SET(layer_norm_backward)(const struct norm_rows *rows, const float *grad_output, float *grad_input,
                                 float *grad_weight, float *grad_bias) {
    size_t width = rows->width;
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * width, *g = grad_output + row * width;
        float center = rows->statistics[2 * row], inverse = rows->statistics[2 * row + 1];
        if (grad_weight != NULL)
            add_row(x, center, inverse, g, grad_weight, grad_bias, width);
        if (grad_input != NULL)
            backward_row(rows->weight, x, center, inverse, g, grad_input + row * width, width);
    }
}

void IN_SET(add_values)(float *sum, const float *values, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        lanes_store(sum + i, lanes_add(lanes_load(sum + i), lanes_load(values + i)));
    for (; i < count; i++)
        sum[i] += values[i];
}

void IN_SET(relu)(const float *input, float *output, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        lanes_store(output + i, lanes_maximum(lanes_load(input + i), lanes_zero()));
    for (; i < count; i++)
        output[i] = input[i] > 0 ? input[i] : 0;
}

void IN_SET(relu_backward)(const float *values, const float *gradient, float *result, size_t count) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        lanes_mask passes = lanes_is_greater(lanes_load(values + i), lanes_zero());
        lanes_store(result + i, lanes_keep(passes, lanes_load(gradient + i)));
    }
    for (; i < count; i++)
        result[i] = values[i] > 0 ? gradient[i] : 0;
}

#endif
