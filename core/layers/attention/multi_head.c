/* Multi-head self-attention: see multi_head.h. */
#include "core/layers/attention/multi_head.h"

#include "core/layers/attention/pairs.h"

#include "core/layers/attention/mask.h"
#include "core/layers/attention/rotation.h"
#include "core/layers/attention/tiled_head.h"
#include "core/layers/linear.h"
#include "core/math/attention_head.h"
#include "core/math/matrix.h"
#include "core/random/torch_init.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct multi_head_layout multi_head_layout_separate(size_t width) {
    size_t square = width * width, linear = square + width;
    return (struct multi_head_layout){.query_weight = 0,
                                      .query_bias = square,
                                      .key_weight = linear,
                                      .key_bias = linear + square,
                                      .value_weight = 2 * linear,
                                      .value_bias = 2 * linear + square,
                                      .output_weight = 3 * linear,
                                      .output_bias = 3 * linear + square,
                                      .parameter_count = 4 * linear};
}

struct multi_head_layout multi_head_layout_torch(size_t width) {
    size_t square = width * width;
    return (struct multi_head_layout){.query_weight = 0,
                                      .key_weight = square,
                                      .value_weight = 2 * square,
                                      .query_bias = 3 * square,
                                      .key_bias = 3 * square + width,
                                      .value_bias = 3 * square + 2 * width,
                                      .output_weight = 3 * square + 3 * width,
                                      .output_bias = 4 * square + 3 * width,
                                      .parameter_count = 4 * square + 4 * width};
}

static void describe_one(const char *prefix, const char *name, size_t rows, size_t columns,
                         struct tensor *tensors, size_t *count) {
    char full[64];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    tensor_describe(tensors, count, full, rows, columns);
}

void multi_head_describe(size_t width, bool torch_layout, const char *prefix, struct tensor *tensors,
                         size_t *count) {
    if (torch_layout) {
        describe_one(prefix, "in_proj_weight", 3 * width, width, tensors, count);
        describe_one(prefix, "in_proj_bias", 3 * width, 0, tensors, count);
        describe_one(prefix, "out_proj.weight", width, width, tensors, count);
        describe_one(prefix, "out_proj.bias", width, 0, tensors, count);
        return;
    }
    static const char *const names[] = {"q.weight", "q.bias", "k.weight",   "k.bias",
                                        "v.weight", "v.bias", "out.weight", "out.bias"};
    for (size_t i = 0; i < 8; i++)
        describe_one(prefix, names[i], width, i % 2 == 0 ? width : 0, tensors, count);
}

void multi_head_initialise(size_t width, bool torch_layout, float *parameters,
                           struct torch_generator *generator) {
    if (torch_layout) {
        struct multi_head_layout at = multi_head_layout_torch(width);
        torch_init_multihead_attention(generator, width, parameters + at.query_weight,
                                       parameters + at.query_bias, parameters + at.output_weight,
                                       parameters + at.output_bias);
        return;
    }
    size_t square = width * width;
    for (size_t i = 0; i < 4; i++) {
        float *weight = parameters + i * (square + width);
        linear_initialise(weight, weight + square, width, width, generator);
    }
}

struct multi_head_shape multi_head_shape_of(const struct layer *layer, size_t count) {
    size_t head_width = layer->input.width / layer->options.heads;
    return (struct multi_head_shape){
        .count = count,
        .steps = layer->input.steps,
        .width = layer->input.width,
        .heads = layer->options.heads,
        .algorithm = attention_choose_head(layer->input.steps, head_width),
        .mask = layer->options.mask,
        .score_divisor = attention_score_divisor(&layer->options, head_width),
        .position = layer->options.position,
    };
}

/* The matrices in `saved`. */
struct saved_matrices {
    float *query, *key, *value, *context; /* [count][steps][width] */
    float *weights;                       /* [count][heads][steps][stride] */
};

static struct saved_matrices saved_matrices_of(const struct multi_head_shape *shape, float *saved) {
    size_t size = shape->count * shape->steps * shape->width;
    return (struct saved_matrices){saved, saved + size, saved + 2 * size, saved + 3 * size, saved + 4 * size};
}

/* The floats in a row of weights for an example of `steps` steps. A row that stays in registers is rounded up
 * (core/math/attention_head.h). */
static size_t stride_of(const struct multi_head_shape *shape, size_t steps) {
    return shape->algorithm == HEAD_IN_REGISTERS ? (shape->steps + 7) / 8 * 8 : steps;
}

/* The floats of one head's weights for one example. Attention in tiles keeps two numbers per query instead
 * (core/layers/attention/tiled_head.h). */
static size_t weights_size(const struct multi_head_shape *shape) {
    return shape->steps * (shape->algorithm == HEAD_IN_TILES ? 2 : stride_of(shape, shape->steps));
}

static struct row_softmax rows_in(const struct multi_head_shape *shape, const float *weights) {
    float *largest = (float *)(uintptr_t)weights;
    return (struct row_softmax){largest, largest + shape->steps};
}

/* The rotations follow the weights in `saved`. */
static size_t rotations_offset(const struct multi_head_shape *shape) {
    return 4 * shape->count * shape->steps * shape->width + shape->count * shape->heads * weights_size(shape);
}

size_t multi_head_saved_size(const struct multi_head_shape *shape) {
    return rotations_offset(shape) +
           rotation_size(shape->position, shape->steps, shape->width / shape->heads);
}

static struct rotated_rows rotated_rows_of(const struct multi_head_shape *shape,
                                           const struct layer_pass *pass) {
    return (struct rotated_rows){.position = shape->position,
                                 .count = shape->count,
                                 .steps = shape->steps,
                                 .heads = shape->heads,
                                 .head_width = shape->width / shape->heads,
                                 .present = shape->skips_padding ? pass->present : NULL};
}

size_t multi_head_scratch_size(const struct multi_head_shape *shape) {
    return 4 * shape->count * shape->steps * shape->width +
           (shape->algorithm == HEAD_IN_TILES
                ? tiled_head_scratch_size(shape->steps, shape->width / shape->heads)
                : weights_size(shape));
}

size_t multi_head_row_count(const struct multi_head_shape *shape, const struct layer_pass *pass) {
    return count_present(shape->skips_padding ? pass->present : NULL, shape->count * shape->steps);
}

/* One example: `steps` rows of the matrices from row `first` on. */
struct example_rows {
    size_t first, steps;
    const uint8_t *present; /* [steps], if there is padding among its rows; else NULL */
};

/* Finds example number i; `before` is the previous one. */
static struct example_rows rows_of(const struct multi_head_shape *shape, const struct layer_pass *pass,
                                   size_t i, struct example_rows before) {
    struct example_rows rows = {before.first + before.steps, shape->steps, NULL};
    if (pass->present == NULL)
        return rows;
    rows.present = pass->present + i * shape->steps;
    if (!shape->skips_padding)
        return rows;
    rows.steps = count_present(rows.present, shape->steps);
    rows.present = NULL;
    return rows;
}

/* Finds a head in `saved`. */
static struct attention_head head_of(const struct multi_head_shape *shape, const float *saved,
                                     const struct example_rows *rows, size_t head, const float *limits) {
    size_t width = shape->width / shape->heads, start = rows->first * shape->width + head * width;
    size_t size = shape->count * shape->steps * shape->width;
    return (struct attention_head){.steps = rows->steps,
                                   .width = width,
                                   .row = shape->width,
                                   .stride = stride_of(shape, rows->steps),
                                   .scale = (float)(1 / shape->score_divisor),
                                   .is_causal = shape->mask == ATTENTION_MASK_CAUSAL,
                                   .limits = limits,
                                   .query = saved + start,
                                   .key = saved + size + start,
                                   .value = saved + 2 * size + start};
}

/* Fills limits[steps] of one example: -infinity for a hidden key. */
static void fill_limits(const struct example_rows *rows, float *limits) {
    for (size_t key = 0; key < rows->steps; key++)
        limits[key] = rows->present[key] == 0 ? -INFINITY : INFINITY;
}

/* Computes one head of a longer example by matrix products. */
static void long_head_forward(const struct attention_head *head, const struct example_rows *rows,
                              float *weights, float *context, const struct kernels *kernels) {
    size_t steps = head->steps;
    matrix_multiply_transposed_b(steps, steps, head->width, 1, head->query, head->row, head->key, head->row,
                                 0, weights, steps);
    struct visible_keys visible = {head->is_causal, rows->present};
    struct score_block all = {0, steps, 0, steps};
    visible_keys_hide_others(&visible, &all, weights, steps);
    kernels->softmax_rows(weights, steps, steps, head->scale);
    matrix_multiply(steps, head->width, steps, 1, weights, steps, head->value, head->row, 0, context,
                    head->row);
}

/* Clears weights and context of the first queries, which see no key: softmax left NaN. */
static void clear_blind(const struct attention_head *head, size_t blind, float *weights, float *context) {
    memset(weights, 0, blind * head->stride * sizeof *weights);
    for (size_t i = 0; i < blind; i++)
        memset(context + i * head->row, 0, head->width * sizeof *context);
}

static void forward_heads(const struct multi_head_shape *shape, const struct saved_matrices *at,
                          const struct layer_pass *pass) {
    float limits[ATTENTION_HEAD_MAXIMUM_STEPS] = {0};
    struct example_rows rows = {0};
    for (size_t i = 0; i < shape->count; i++) {
        rows = rows_of(shape, pass, i, rows);
        bool is_hidden = shape->algorithm == HEAD_IN_REGISTERS && rows.present != NULL;
        struct visible_keys visible = {shape->mask == ATTENTION_MASK_CAUSAL, rows.present};
        size_t blind = visible_keys_count_blind(&visible, rows.steps);
        if (is_hidden)
            fill_limits(&rows, limits);
        for (size_t h = 0; h < shape->heads && !layer_pass_is_stopped(pass); h++) {
            struct attention_head head = head_of(shape, at->query, &rows, h, is_hidden ? limits : NULL);
            float *weights = at->weights + (i * shape->heads + h) * weights_size(shape);
            float *context = at->context + (head.query - at->query);
            struct tiled_head tiled = {&head, rows.present, pass->kernels, pass->scratch};
            struct row_softmax softmax = rows_in(shape, weights);
            if (shape->algorithm == HEAD_IN_TILES) {
                tiled_head_forward(&tiled, &softmax, context);
                continue;
            }
            if (shape->algorithm == HEAD_IN_REGISTERS)
                pass->kernels->attention_head_forward(&head, weights, context);
            else
                long_head_forward(&head, &rows, weights, context, pass->kernels);
            clear_blind(&head, blind, weights, context);
        }
    }
}

void multi_head_forward(const struct multi_head_shape *shape, const struct multi_head_layout *layout,
                        const float *parameters, const float *input, float *output, float *saved,
                        const struct layer_pass *pass) {
    struct saved_matrices at = saved_matrices_of(shape, saved);
    size_t width = shape->width, rows = multi_head_row_count(shape, pass);
    linear_forward(parameters + layout->query_weight, parameters + layout->query_bias, input, at.query, rows,
                   width, width);
    linear_forward(parameters + layout->key_weight, parameters + layout->key_bias, input, at.key, rows, width,
                   width);
    linear_forward(parameters + layout->value_weight, parameters + layout->value_bias, input, at.value, rows,
                   width, width);
    struct rotated_rows rotated = rotated_rows_of(shape, pass);
    rotation_forward(&rotated, saved + rotations_offset(shape), at.query, at.key);
    forward_heads(shape, &at, pass);
    linear_forward(parameters + layout->output_weight, parameters + layout->output_bias, at.context, output,
                   rows, width, width);
}

static void long_head_backward(const struct attention_head *head, const float *weights,
                               const struct attention_head_gradients *grad, const struct kernels *kernels) {
    size_t steps = head->steps, row = head->row, width = head->width;
    matrix_multiply_transposed_b(steps, steps, width, 1, grad->context, row, head->value, row, 0,
                                 grad->scores, steps);
    matrix_multiply_transposed_a(steps, width, steps, 1, weights, steps, grad->context, row, 0, grad->value,
                                 row);
    kernels->softmax_rows_backward(weights, grad->scores, steps, steps, head->scale);
    matrix_multiply(steps, width, steps, 1, grad->scores, steps, head->key, row, 0, grad->query, row);
    matrix_multiply_transposed_a(steps, width, steps, 1, grad->scores, steps, head->query, row, 0, grad->key,
                                 row);
}

/* Computes the gradients of query, key and value from that of the context, head by head. grad->weights is
 * working memory for the gradients of one head's scores. */
static void backward_heads(const struct multi_head_shape *shape, const struct saved_matrices *at,
                           const struct saved_matrices *grad, const struct layer_pass *pass) {
    struct example_rows rows = {0};
    for (size_t i = 0; i < shape->count; i++) {
        rows = rows_of(shape, pass, i, rows);
        for (size_t h = 0; h < shape->heads && !layer_pass_is_stopped(pass); h++) {
            struct attention_head head = head_of(shape, at->query, &rows, h, NULL);
            size_t start = (size_t)(head.query - at->query);
            const float *weights = at->weights + (i * shape->heads + h) * weights_size(shape);
            struct attention_head_gradients gradients = {grad->context + start, grad->query + start,
                                                         grad->key + start, grad->value + start,
                                                         grad->weights};
            struct tiled_head tiled = {&head, rows.present, pass->kernels, grad->weights};
            struct row_softmax softmax = rows_in(shape, weights);
            if (shape->algorithm == HEAD_IN_REGISTERS)
                pass->kernels->attention_head_backward(&head, weights, &gradients);
            else if (shape->algorithm == HEAD_IN_TILES)
                tiled_head_backward(&tiled, &softmax, &gradients);
            else
                long_head_backward(&head, weights, &gradients, pass->kernels);
        }
    }
}

void multi_head_backward(const struct multi_head_shape *shape, const struct multi_head_layout *layout,
                         const float *parameters, const float *input, float *saved, const float *grad_output,
                         float *grad_input, float *grad_parameters, const struct layer_pass *pass) {
    struct saved_matrices at = saved_matrices_of(shape, saved);
    /* The scratch has the layout of `saved`, with room for the weights of one head. */
    struct saved_matrices grad = saved_matrices_of(shape, pass->scratch);
    size_t width = shape->width, rows = multi_head_row_count(shape, pass);
    bool wanted = grad_parameters != NULL;
    linear_backward(parameters + layout->output_weight, at.context, grad_output, grad.context, false,
                    wanted ? grad_parameters + layout->output_weight : NULL,
                    wanted ? grad_parameters + layout->output_bias : NULL, rows, width, width);
    backward_heads(shape, &at, &grad, pass);
    struct rotated_rows rotated = rotated_rows_of(shape, pass);
    rotation_backward(&rotated, saved + rotations_offset(shape), grad.query, grad.key);
    const size_t weight[] = {layout->query_weight, layout->key_weight, layout->value_weight};
    const size_t bias[] = {layout->query_bias, layout->key_bias, layout->value_bias};
    const float *const grad_projection[] = {grad.query, grad.key, grad.value};
    for (size_t i = 0; i < 3; i++)
        linear_backward(parameters + weight[i], input, grad_projection[i], grad_input, i > 0,
                        wanted ? grad_parameters + weight[i] : NULL,
                        wanted ? grad_parameters + bias[i] : NULL, rows, width, width);
}

/* Unpacks weights in place to [queries][steps]. On entry they begin with packed rows: the weights of the
 * present queries for the `keys` present. Works from the end, so that it overwrites nothing before reading
 * it. A row of NaN is NaN at hidden keys too. */
static void unpack_weights(const uint8_t *present, size_t steps, size_t keys, size_t first, size_t queries,
                           size_t packed_queries, float *weights) {
    for (size_t query = queries; query-- > 0;) {
        float *row = weights + query * steps;
        bool is_present = present[first + query] != 0;
        const float *from = is_present ? weights + --packed_queries * keys : NULL;
        float hidden = is_present && isnan(from[0]) ? NAN : 0;
        for (size_t key = steps, left = keys; key-- > 0;)
            row[key] = is_present && present[key] != 0 ? from[--left] : hidden;
    }
}

void multi_head_write_weights(const struct multi_head_shape *shape, const float *saved,
                              const struct layer_pass *pass, size_t first, size_t queries, float *weights) {
    size_t steps = shape->steps, size = shape->count * steps * shape->width;
    const float *kept = saved + 4 * size;
    struct example_rows rows = {0};
    for (size_t i = 0; i < shape->count; i++) {
        rows = rows_of(shape, pass, i, rows);
        const uint8_t *skipped =
            shape->skips_padding && pass->present != NULL ? pass->present + i * steps : NULL;
        size_t from = skipped == NULL ? first : count_present(skipped, first);
        size_t count = skipped == NULL ? queries : count_present(skipped + first, queries);
        for (size_t h = 0; h < shape->heads; h++, kept += weights_size(shape), weights += queries * steps) {
            struct attention_head head = head_of(shape, saved, &rows, h, NULL);
            struct tiled_head tiled = {&head, rows.present, pass->kernels, pass->scratch};
            struct row_softmax softmax = rows_in(shape, kept);
            if (shape->algorithm == HEAD_IN_TILES)
                tiled_head_weights(&tiled, &softmax, from, count, weights);
            else
                for (size_t row = 0; row < count; row++)
                    memcpy(weights + row * rows.steps, kept + (from + row) * head.stride,
                           rows.steps * sizeof *weights);
            if (skipped != NULL)
                unpack_weights(skipped, steps, rows.steps, first, queries, count, weights);
        }
    }
}

static bool has_torch_layout(const struct layer *layer) {
    return layer->type == &layer_torch_multi_head_attention;
}

static struct multi_head_layout layout_of(const struct layer *layer) {
    return has_torch_layout(layer) ? multi_head_layout_torch(layer->input.width)
                                   : multi_head_layout_separate(layer->input.width);
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    multi_head_describe(layer->input.width, has_torch_layout(layer), "", tensors, &count);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    multi_head_initialise(layer->input.width, has_torch_layout(layer), parameters, generator);
}

static size_t saved_size(const struct layer *layer, size_t count) {
    struct multi_head_shape shape = multi_head_shape_of(layer, count);
    return multi_head_saved_size(&shape);
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    struct multi_head_shape shape = multi_head_shape_of(layer, count);
    return multi_head_scratch_size(&shape);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    struct multi_head_shape shape = multi_head_shape_of(layer, pass->count);
    struct multi_head_layout layout = layout_of(layer);
    multi_head_forward(&shape, &layout, parameters, input, output, saved, pass);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    struct multi_head_shape shape = multi_head_shape_of(layer, pass->count);
    struct multi_head_layout layout = layout_of(layer);
    multi_head_backward(&shape, &layout, parameters, input, saved, grad_output, grad_input, grad_parameters,
                        pass);
}

static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    struct multi_head_shape shape = multi_head_shape_of(layer, pass->count);
    multi_head_write_weights(&shape, saved, pass, 0, shape.steps, weights);
}

static void attention_rows(const struct layer *layer, const float *parameters, const float *input,
                           float *saved, size_t first, size_t queries, float *weights,
                           const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    struct multi_head_shape shape = multi_head_shape_of(layer, pass->count);
    multi_head_write_weights(&shape, saved, pass, first, queries, weights);
}

const struct layer_type layer_multi_head_attention = {
    .name = "multi-head attention",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
    .attention_rows = attention_rows,
};

const struct layer_type layer_torch_multi_head_attention = {
    .name = "multi-head attention (packed)",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
    .attention_rows = attention_rows,
};
