/* Attention averaged over its queries: see pooled.h. */
#include "core/layers/attention/pooled.h"

#include "core/layers/attention/pairs.h"

#include "core/layers/attention/mask.h"
#include "core/layers/attention/rotation.h"
#include "core/layers/linear.h"
#include "core/math/matrix.h"

#include <string.h>

struct layer_shape pooled_attention_output_shape(struct layer_shape input, size_t width,
                                                 const struct layer_options *options) {
    (void)width;
    (void)options;
    return (struct layer_shape){1, input.width};
}

size_t pooled_attention_describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t width = layer->input.width, count = 0;
    tensor_describe(tensors, &count, "q.weight", width, width);
    tensor_describe(tensors, &count, "q.bias", width, 0);
    tensor_describe(tensors, &count, "k.weight", width, width);
    tensor_describe(tensors, &count, "k.bias", width, 0);
    tensor_describe(tensors, &count, "v.weight", width, width);
    tensor_describe(tensors, &count, "v.bias", width, 0);
    return count;
}

struct pooled_attention_gradients pooled_attention_gradients_of(float *gradients, size_t width) {
    if (gradients == NULL)
        return (struct pooled_attention_gradients){.query = NULL};
    size_t square = width * width, one = square + width;
    return (struct pooled_attention_gradients){gradients,           gradients + square,
                                               gradients + one,     gradients + one + square,
                                               gradients + 2 * one, gradients + 2 * one + square};
}

struct pooled_attention_projections pooled_attention_projections_of(const float *parameters, size_t width) {
    size_t square = width * width, one = square + width;
    return (struct pooled_attention_projections){parameters,           parameters + square,
                                                 parameters + one,     parameters + one + square,
                                                 parameters + 2 * one, parameters + 2 * one + square};
}

void pooled_attention_initialise(const struct layer *layer, float *parameters,
                                 struct torch_generator *generator) {
    size_t width = layer->input.width, one = width * width + width;
    for (size_t i = 0; i < 3; i++)
        linear_initialise(parameters + i * one, parameters + i * one + width * width, width, width,
                          generator);
}

static struct rotated_rows rotated_rows_of(const struct layer *layer, size_t count) {
    return (struct rotated_rows){.position = layer->options.position,
                                 .count = count,
                                 .steps = layer->input.steps,
                                 .heads = 1,
                                 .head_width = layer->input.width};
}

void pooled_attention_project(const struct layer *layer, const float *parameters, const float *input,
                              size_t count, float *query, float *key, float *rotations) {
    size_t width = layer->input.width, rows = count * layer->input.steps;
    struct pooled_attention_projections weights = pooled_attention_projections_of(parameters, width);
    struct rotated_rows rotated = rotated_rows_of(layer, count);
    linear_forward(weights.query, weights.query_bias, input, query, rows, width, width);
    linear_forward(weights.key, weights.key_bias, input, key, rows, width, width);
    rotation_forward(&rotated, rotations, query, key);
}

void pooled_attention_project_backward(const struct layer *layer, const float *parameters, const float *input,
                                       size_t count, const float *rotations, float *grad_query,
                                       float *grad_key, float *grad_input, float *grad_parameters) {
    size_t width = layer->input.width, rows = count * layer->input.steps;
    struct pooled_attention_projections weights = pooled_attention_projections_of(parameters, width);
    struct pooled_attention_gradients own = pooled_attention_gradients_of(grad_parameters, width);
    struct rotated_rows rotated = rotated_rows_of(layer, count);
    rotation_backward(&rotated, rotations, grad_query, grad_key);
    linear_backward(weights.query, input, grad_query, grad_input, true, own.query, own.query_bias, rows,
                    width, width);
    linear_backward(weights.key, input, grad_key, grad_input, true, own.key, own.key_bias, rows, width,
                    width);
}

/* The values saved from forward to backward. */
struct saved_parts {
    float *query, *key;  /* [count][T][width] */
    float *weights;      /* [count][T][T] */
    float *share;        /* [count][T]: m */
    float *pooled_input; /* [count][width]: sum_j m_j h_j */
    float *rotations;    /* [T][width], if the position rotates */
};

static struct saved_parts parts_of(float *saved, const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width;
    struct saved_parts parts = {.query = saved};
    parts.key = parts.query + count * steps * width;
    parts.weights = parts.key + count * steps * width;
    parts.share = parts.weights + count * steps * steps;
    parts.pooled_input = parts.share + count * steps;
    parts.rotations = parts.pooled_input + count * width;
    return parts;
}

static size_t saved_size(const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width;
    return count * (2 * steps * width + steps * steps + steps + width) +
           rotation_size(layer->options.position, steps, width);
}

/* The scratch: u[count][width], a[T], and the gradients of query and key [count][T][width]. */
static size_t scratch_size(const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width;
    return count * width + steps + 2 * count * steps * width;
}

static void clear_padded_queries(float *weights, size_t steps, const uint8_t *present) {
    for (size_t i = 0; i < steps; i++)
        if (present[i] == 0)
            memset(weights + i * steps, 0, steps * sizeof *weights);
}

static float score_scale(const struct layer *layer) {
    return 1 / (float)attention_score_divisor(&layer->options, layer->input.width);
}

/* Computes the weights, m and sum_j m_j h_j of one example. `input` is h[T][width]. */
static void attend(const struct layer *layer, const float *input, const float *query, const float *key,
                   const uint8_t *present, float *weights, float *share, float *pooled_input,
                   const struct kernels *kernels) {
    size_t steps = layer->input.steps, width = layer->input.width;
    matrix_multiply_transposed_b(steps, steps, width, 1, query, width, key, width, 0, weights, steps);
    struct visible_keys visible = {layer->options.mask == ATTENTION_MASK_CAUSAL, present};
    struct score_block all = {0, steps, 0, steps};
    visible_keys_hide_others(&visible, &all, weights, steps);
    kernels->softmax_rows(weights, steps, steps, score_scale(layer));
    if (present != NULL)
        clear_padded_queries(weights, steps, present);
    memset(share, 0, steps * sizeof *share);
    kernels->add_column_sums(weights, steps, steps, share);
    size_t queries = count_present(present, steps);
    float factor = queries > 0 ? 1 / (float)queries : 0;
    for (size_t j = 0; j < steps; j++)
        share[j] *= factor;
    matrix_multiply(1, width, steps, 1, share, steps, input, width, 0, pooled_input, width);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->input.width;
    struct pooled_attention_projections weights = pooled_attention_projections_of(parameters, width);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    pooled_attention_project(layer, parameters, input, pass->count, parts.query, parts.key, parts.rotations);
    for (size_t i = 0; i < pass->count && !layer_pass_is_stopped(pass); i++) {
        size_t at = i * steps;
        attend(layer, input + at * width, parts.query + at * width, parts.key + at * width,
               pass->present == NULL ? NULL : pass->present + at, parts.weights + at * steps,
               parts.share + at, parts.pooled_input + i * width, pass->kernels);
    }
    linear_forward(weights.value, weights.value_bias, parts.pooled_input, output, pass->count, width, width);
}

/* Computes the gradients of one example's query and key; `u` is that of the header. Overwrites the weights.
 */
static void attend_backward(const struct layer *layer, const float *input, const float *query,
                            const float *key, const uint8_t *present, float *weights, const float *u,
                            float *a, float *grad_query, float *grad_key, const struct kernels *kernels) {
    size_t steps = layer->input.steps, width = layer->input.width;
    size_t queries = count_present(present, steps);
    float factor = queries > 0 ? 1 / (float)queries : 0;
    matrix_multiply(steps, 1, width, factor, input, width, u, 1, 0, a, 1);
    kernels->softmax_rows_backward_shared(weights, a, steps, steps, score_scale(layer));
    matrix_multiply(steps, width, steps, 1, weights, steps, key, width, 0, grad_query, width);
    matrix_multiply_transposed_a(steps, width, steps, 1, weights, steps, query, width, 0, grad_key, width);
}

/* Sets grad_input[j] = m_j u for every example. */
static void spread_over_keys(size_t count, size_t steps, size_t width, const float *share, const float *u,
                             float *grad_input) {
    for (size_t i = 0; i < count; i++)
        matrix_multiply(steps, width, 1, 1, share + i * steps, 1, u + i * width, width, 0,
                        grad_input + i * steps * width, width);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    size_t steps = layer->input.steps, width = layer->input.width, rows = pass->count * steps;
    struct pooled_attention_projections weights = pooled_attention_projections_of(parameters, width);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    float *u = pass->scratch, *a = u + pass->count * width, *grad_query = a + steps;
    float *grad_key = grad_query + rows * width;

    struct pooled_attention_gradients own = pooled_attention_gradients_of(grad_parameters, width);
    linear_backward(weights.value, parts.pooled_input, grad_output, u, false, own.value, own.value_bias,
                    pass->count, width, width);
    for (size_t i = 0; i < pass->count && !layer_pass_is_stopped(pass); i++) {
        size_t at = i * steps;
        attend_backward(layer, input + at * width, parts.query + at * width, parts.key + at * width,
                        pass->present == NULL ? NULL : pass->present + at, parts.weights + at * steps,
                        u + i * width, a, grad_query + at * width, grad_key + at * width, pass->kernels);
    }
    if (grad_input != NULL)
        spread_over_keys(pass->count, steps, width, parts.share, u, grad_input);
    pooled_attention_project_backward(layer, parameters, input, pass->count, parts.rotations, grad_query,
                                      grad_key, grad_input, grad_parameters);
}

static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    size_t steps = layer->input.steps, width = layer->input.width;
    memcpy(weights, saved + 2 * pass->count * steps * width, pass->count * steps * steps * sizeof *weights);
}

const struct layer_type layer_pooled_attention = {
    .name = "attention, averaged over its queries",
    .output_shape = pooled_attention_output_shape,
    .describe = pooled_attention_describe,
    .initialise = pooled_attention_initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
};
