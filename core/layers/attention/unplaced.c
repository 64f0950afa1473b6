/* Attention over numbers without positions: see scalar.h, also for the names u, p, Uq, Uk, Pq and mu_i. In
 * addition, z_b = X_b u + p is the pooled step of example b, where X_b is the mean of mu_i over its
 * queries. */
#include "core/layers/attention/scalar.h"

#include "core/layers/linear.h"
#include "core/math/matrix.h"
#include "core/math/shared_scores.h"

#include <math.h>
#include <string.h>

/* The values saved from forward to backward. A padded example's real steps are moved to the front, because
 * their order does not matter here. */
struct saved_parts {
    float *x, *tilts;                            /* [count][T]: the real steps, and f */
    float *means, *variances;                    /* [count][T]: mu and the variance of x, for each query */
    float *pooled;                               /* [count]: X */
    float *pooled_input;                         /* [count][width]: z */
    float *query_slope, *key_slope, *query_base; /* [width]: Uq, Uk, Pq */
};

static struct saved_parts parts_of(float *saved, const struct layer *layer, size_t count) {
    size_t rows = count * layer->input.steps, width = layer->output.width;
    struct saved_parts parts = {.x = saved, .tilts = saved + rows, .means = saved + 2 * rows};
    parts.variances = saved + 3 * rows;
    parts.pooled = saved + 4 * rows;
    parts.pooled_input = parts.pooled + count;
    parts.query_slope = parts.pooled_input + count * width;
    parts.key_slope = parts.query_slope + width;
    parts.query_base = parts.key_slope + width;
    return parts;
}

static size_t saved_size(const struct layer *layer, size_t count) {
    return count * (4 * layer->input.steps + 1 + layer->output.width) + 3 * layer->output.width;
}

/* The scratch: dz[count][width], then dUq, dUk, dPq, du, dp, each [width]; or one row of weights. */
static size_t scratch_size(const struct layer *layer, size_t count) {
    return (count + 5) * layer->output.width + layer->input.steps;
}

/* Computes result[size] = matrix[size][size] vector. */
static void apply(const float *matrix, const float *vector, size_t size, float *result) {
    matrix_multiply(size, 1, size, 1, matrix, size, vector, 1, 0, result, 1);
}

static size_t gather_real_steps(const struct layer *layer, size_t example, const float *input, float *x,
                                const struct layer_pass *pass) {
    size_t count = 0;
    for (size_t t = 0; t < layer->input.steps; t++)
        if (scalar_attention_is_real(layer, example, t, pass))
            x[count++] = input[example * layer->input.steps + t];
    return count;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width;
    struct scalar_attention_parts weights = scalar_attention_parts_of(layer, parameters);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    apply(weights.query_weight, weights.input_weight, width, parts.query_slope);
    apply(weights.key_weight, weights.input_weight, width, parts.key_slope);
    linear_forward(weights.query_weight, weights.query_bias, weights.input_bias, parts.query_base, 1, width,
                   width);
    float scale = scalar_attention_score_scale(layer),
          slope = scale * scalar_attention_dot(parts.query_slope, parts.key_slope, width);
    float base = scale * scalar_attention_dot(parts.query_base, parts.key_slope, width);
    for (size_t b = 0; b < pass->count && !layer_pass_is_stopped(pass); b++) {
        float *x = parts.x + b * steps, *tilts = parts.tilts + b * steps, *means = parts.means + b * steps;
        size_t real = gather_real_steps(layer, b, input, x, pass);
        for (size_t i = 0; i < real; i++)
            tilts[i] = slope * x[i] + base;
        float sum = 0;
        if (real > 0)
            pass->kernels->tilted_moments(x, real, tilts, real, means, parts.variances + b * steps);
        for (size_t i = 0; i < real; i++)
            sum += means[i];
        parts.pooled[b] = real > 0 ? sum / (float)real : 0;
        for (size_t k = 0; k < width; k++)
            parts.pooled_input[b * width + k] =
                parts.pooled[b] * weights.input_weight[k] + (real > 0 ? weights.input_bias[k] : 0);
    }
    linear_forward(weights.value_weight, weights.value_bias, parts.pooled_input, output, pass->count, width,
                   width);
}

/* Computes grad_x[T] of one example from grad_pooled, the gradient of X. As a key, a step changes the mean of
 * every query; as a query, it changes its own tilt. `row` is scratch. */
static void send_to_input(const struct layer *layer, size_t example, const struct saved_parts *parts,
                          float grad_pooled, float tilt_slope, float *row, float *grad_x,
                          const struct layer_pass *pass) {
    size_t steps = layer->input.steps, real = scalar_attention_real_steps(layer, example, pass);
    const float *x = parts->x + example * steps, *tilts = parts->tilts + example * steps;
    const float *means = parts->means + example * steps, *variances = parts->variances + example * steps;
    float each = real > 0 ? grad_pooled / (float)real : 0;
    for (size_t j = 0; j < real; j++)
        grad_x[j] = each * variances[j] * LN_OF_2 * tilt_slope;
    for (size_t i = 0; i < real; i++) {
        for (size_t j = 0; j < real; j++)
            row[j] = tilts[i] * x[j];
        pass->kernels->softmax_rows(row, 1, real, LN_OF_2);
        for (size_t j = 0; j < real; j++)
            grad_x[j] += each * row[j] * (1 + LN_OF_2 * tilts[i] * (x[j] - means[i]));
    }
    /* Move the gradients from the front back to the real steps. */
    for (size_t t = steps, next = real; t-- > 0;)
        grad_x[t] = scalar_attention_is_real(layer, example, t, pass) ? grad_x[--next] : 0;
}

struct gradients {
    float *grad_pooled_input;                                                /* [count][width]: dz */
    float *query_slope, *key_slope, *query_base, *input_weight, *input_bias; /* dUq, dUk, dPq, du, dp */
    float *row;
};

static struct gradients gradients_in(float *scratch, size_t count, size_t width) {
    float *next = scratch + count * width;
    return (struct gradients){
        scratch, next, next + width, next + 2 * width, next + 3 * width, next + 4 * width, next + 5 * width};
}

/* Sums over the examples the gradients of the slope Uq.Uk and the base Pq.Uk, and those of u and p that come
 * through z. */
static void add_over_examples(const struct layer *layer, const struct scalar_attention_parts *weights,
                              const struct saved_parts *parts, const struct gradients *gradients,
                              float *grad_slope, float *grad_base, float *grad_input,
                              const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width;
    float scale = scalar_attention_score_scale(layer);
    float tilt_slope = scale * scalar_attention_dot(parts->query_slope, parts->key_slope, width);
    for (size_t b = 0; b < pass->count && !layer_pass_is_stopped(pass); b++) {
        const float *grad_z = gradients->grad_pooled_input + b * width, *x = parts->x + b * steps;
        const float *variances = parts->variances + b * steps;
        size_t real = scalar_attention_real_steps(layer, b, pass);
        float grad_pooled = scalar_attention_dot(weights->input_weight, grad_z, width), variance_sum = 0,
              product_sum = 0;
        for (size_t i = 0; i < real; i++) {
            variance_sum += variances[i];
            product_sum += variances[i] * x[i];
        }
        float each = real > 0 ? LN_OF_2 * scale * grad_pooled / (float)real : 0;
        *grad_slope += each * product_sum;
        *grad_base += each * variance_sum;
        for (size_t k = 0; k < width; k++) {
            gradients->input_weight[k] += parts->pooled[b] * grad_z[k];
            gradients->input_bias[k] += real > 0 ? grad_z[k] : 0;
        }
        if (grad_input != NULL)
            send_to_input(layer, b, parts, grad_pooled, tilt_slope, gradients->row, grad_input + b * steps,
                          pass);
    }
}

static void add_outer(const float *column, const float *row, size_t size, float *matrix) {
    matrix_multiply(size, size, 1, 1, column, 1, row, size, 1, matrix, size);
}

static void add_transposed(const float *matrix, const float *vector, size_t size, float *result) {
    matrix_multiply(1, size, size, 1, vector, size, matrix, size, 1, result, size);
}

static void add_vector(const float *from, size_t count, float *to) {
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

/* Computes the gradients of the tensors from those of slope and base. */
static void add_parameter_gradients(const struct layer *layer, const struct scalar_attention_parts *weights,
                                    const struct saved_parts *parts, const struct gradients *gradients,
                                    float grad_slope, float grad_base,
                                    const struct scalar_attention_parts *to) {
    size_t width = layer->output.width;
    for (size_t k = 0; k < width; k++) {
        gradients->query_slope[k] = grad_slope * parts->key_slope[k];
        gradients->key_slope[k] = grad_slope * parts->query_slope[k] + grad_base * parts->query_base[k];
        gradients->query_base[k] = grad_base * parts->key_slope[k];
    }
    add_outer(gradients->query_slope, weights->input_weight, width, to->query_weight);
    add_outer(gradients->query_base, weights->input_bias, width, to->query_weight);
    add_vector(gradients->query_base, width, to->query_bias);
    add_outer(gradients->key_slope, weights->input_weight, width, to->key_weight);
    add_transposed(weights->query_weight, gradients->query_slope, width, gradients->input_weight);
    add_transposed(weights->key_weight, gradients->key_slope, width, gradients->input_weight);
    add_transposed(weights->query_weight, gradients->query_base, width, gradients->input_bias);
    add_vector(gradients->input_weight, width, to->input_weight);
    add_vector(gradients->input_bias, width, to->input_bias);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)input;
    (void)output;
    size_t width = layer->output.width;
    struct scalar_attention_parts weights = scalar_attention_parts_of(layer, parameters), to = {0};
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    struct gradients gradients = gradients_in(pass->scratch, pass->count, width);
    float grad_slope = 0, grad_base = 0;
    if (grad_parameters != NULL)
        to = scalar_attention_parts_of(layer, grad_parameters);
    memset(gradients.input_weight, 0, 2 * width * sizeof *gradients.input_weight);
    linear_backward(weights.value_weight, parts.pooled_input, grad_output, gradients.grad_pooled_input, false,
                    to.value_weight, to.value_bias, pass->count, width, width);
    add_over_examples(layer, &weights, &parts, &gradients, &grad_slope, &grad_base, grad_input, pass);
    if (grad_parameters != NULL)
        add_parameter_gradients(layer, &weights, &parts, &gradients, grad_slope, grad_base, &to);
}

static void attention_rows(const struct layer *layer, const float *parameters, const float *input,
                           float *saved, size_t first, size_t queries, float *weights,
                           const struct layer_pass *pass) {
    (void)parameters;
    size_t steps = layer->input.steps;
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    for (size_t b = 0; b < pass->count; b++) {
        const float *tilts = parts.tilts + b * steps; /* of the real steps */
        for (size_t i = 0; i < first; i++)
            tilts += scalar_attention_is_real(layer, b, i, pass);
        for (size_t i = first; i < first + queries; i++, weights += steps) {
            if (!scalar_attention_is_real(layer, b, i, pass)) {
                memset(weights, 0, steps * sizeof *weights);
                continue;
            }
            for (size_t j = 0; j < steps; j++)
                weights[j] =
                    scalar_attention_is_real(layer, b, j, pass) ? *tilts * input[b * steps + j] : -INFINITY;
            pass->kernels->softmax_rows(weights, 1, steps, LN_OF_2);
            tilts++;
        }
    }
}

/* Measured: a pair of numbers takes as long as so many of the other layers' operations. */
static double pair_operations(const struct layer *layer) {
    enum { OPERATIONS_OF_PAIR = 20 };
    return OPERATIONS_OF_PAIR * (double)layer->input.steps * (double)layer->input.steps;
}

const struct layer_type layer_unplaced_attention = {
    .name = "attention over numbers without positions, averaged over its queries",
    .shares_work = true,
    .output_shape = scalar_attention_output_shape,
    .describe = scalar_attention_describe,
    .initialise = scalar_attention_initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = pair_operations,
    .spares_products = true,
    .forward = forward,
    .backward = backward,
    .attention_rows = attention_rows,
};
