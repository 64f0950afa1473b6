/* Multi-head self-attention: see multi_head_attention.h. */
#include "core/layers/multi_head_attention.h"

#include "core/layers/linear.h"
#include "core/math/matrix.h"
#include "core/random/torch_random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct attention_layout attention_layout_separate(size_t width) {
    size_t square = width * width, linear = square + width;
    return (struct attention_layout){.query_weight = 0,
                                     .query_bias = square,
                                     .key_weight = linear,
                                     .key_bias = linear + square,
                                     .value_weight = 2 * linear,
                                     .value_bias = 2 * linear + square,
                                     .output_weight = 3 * linear,
                                     .output_bias = 3 * linear + square,
                                     .parameter_count = 4 * linear};
}

struct attention_layout attention_layout_torch(size_t width) {
    size_t square = width * width;
    return (struct attention_layout){.query_weight = 0,
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

void attention_describe(size_t width, bool torch_layout, const char *prefix, struct tensor *tensors,
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

/* nn.MultiheadAttention draws its output projection first, as a Linear, and then clears that bias; the rest
 * is Xavier uniform over the packed tensor (Glorot and Bengio 2010), with fan_in width and fan_out 3 width.
 */
static void initialise_torch(size_t width, float *parameters, struct torch_generator *generator) {
    struct attention_layout at = attention_layout_torch(width);
    linear_initialise(parameters + at.output_weight, parameters + at.output_bias, width, width, generator);
    double bound = sqrt(6.0 / (double)(4 * width));
    torch_uniform(generator, parameters + at.query_weight, 3 * width * width, -bound, bound);
    memset(parameters + at.query_bias, 0, 3 * width * sizeof *parameters);
    memset(parameters + at.output_bias, 0, width * sizeof *parameters);
}

void attention_initialise(size_t width, bool torch_layout, float *parameters,
                          struct torch_generator *generator) {
    if (torch_layout) {
        initialise_torch(width, parameters, generator);
        return;
    }
    size_t square = width * width;
    for (size_t i = 0; i < 4; i++) {
        float *weight = parameters + i * (square + width);
        linear_initialise(weight, weight + square, width, width, generator);
    }
}

/* The matrices within `saved`. */
struct saved_matrices {
    float *query, *key, *value, *context; /* [count][steps][width] */
    float *weights;                       /* [count][heads][steps][steps] */
};

static struct saved_matrices saved_matrices_of(const struct attention_shape *shape, float *saved) {
    size_t size = shape->count * shape->steps * shape->width;
    return (struct saved_matrices){saved, saved + size, saved + 2 * size, saved + 3 * size, saved + 4 * size};
}

size_t attention_saved_size(const struct attention_shape *shape) {
    return shape->count * shape->steps * (4 * shape->width + shape->heads * shape->steps);
}

size_t attention_scratch_size(const struct attention_shape *shape) {
    return 4 * shape->count * shape->steps * shape->width + shape->steps * shape->steps;
}

const float *attention_saved_weights(const struct attention_shape *shape, const float *saved) {
    return saved + 4 * shape->count * shape->steps * shape->width;
}

/* Sets the scores[steps][steps] of hidden keys of one example to -infinity. */
static void hide_keys(const struct attention_shape *shape, const uint8_t *present, float *scores) {
    bool is_causal = shape->mask == ATTENTION_MASK_CAUSAL;
    for (size_t query = 0; (present != NULL || is_causal) && query < shape->steps; query++)
        for (size_t key = 0; key < shape->steps; key++)
            if ((present != NULL && present[key] == 0) || (is_causal && key > query))
                scores[query * shape->steps + key] = -INFINITY;
}

static float scale_of(const struct attention_shape *shape) {
    size_t head_width = shape->width / shape->heads;
    return (float)(1 / sqrt((double)head_width));
}

void attention_forward(const struct attention_shape *shape, const struct attention_layout *layout,
                       const float *parameters, const float *input, float *output, float *saved,
                       const struct layer_pass *pass) {
    struct saved_matrices at = saved_matrices_of(shape, saved);
    size_t steps = shape->steps, width = shape->width, rows = shape->count * steps;
    size_t head_width = width / shape->heads;
    linear_forward(parameters + layout->query_weight, parameters + layout->query_bias, input, at.query, rows,
                   width, width);
    linear_forward(parameters + layout->key_weight, parameters + layout->key_bias, input, at.key, rows, width,
                   width);
    linear_forward(parameters + layout->value_weight, parameters + layout->value_bias, input, at.value, rows,
                   width, width);
    for (size_t i = 0; i < shape->count; i++) {
        const uint8_t *present = pass->present == NULL ? NULL : pass->present + i * steps;
        for (size_t head = 0; head < shape->heads; head++) {
            size_t start = i * steps * width + head * head_width;
            float *weights = at.weights + (i * shape->heads + head) * steps * steps;
            matrix_multiply_transposed_b(steps, steps, head_width, 1, at.query + start, width, at.key + start,
                                         width, 0, weights, steps);
            hide_keys(shape, present, weights);
            pass->kernels->softmax_rows(weights, steps, steps, scale_of(shape));
            matrix_multiply(steps, head_width, steps, 1, weights, steps, at.value + start, width, 0,
                            at.context + start, width);
        }
    }
    linear_forward(parameters + layout->output_weight, parameters + layout->output_bias, at.context, output,
                   rows, width, width);
}

/* Gradients of query, key and value from that of the context, head by head. grad_weights[steps][steps] is
 * working memory. */
static void backward_heads(const struct attention_shape *shape, const struct saved_matrices *at,
                           const struct saved_matrices *grad, const struct layer_pass *pass) {
    size_t steps = shape->steps, width = shape->width, head_width = width / shape->heads;
    for (size_t i = 0; i < shape->count; i++)
        for (size_t head = 0; head < shape->heads; head++) {
            size_t start = i * steps * width + head * head_width;
            const float *weights = at->weights + (i * shape->heads + head) * steps * steps;
            float *grad_weights = grad->weights;
            matrix_multiply_transposed_b(steps, steps, head_width, 1, grad->context + start, width,
                                         at->value + start, width, 0, grad_weights, steps);
            matrix_multiply_transposed_a(steps, head_width, steps, 1, weights, steps, grad->context + start,
                                         width, 0, grad->value + start, width);
            pass->kernels->softmax_rows_backward(weights, grad_weights, steps, steps, scale_of(shape));
            matrix_multiply(steps, head_width, steps, 1, grad_weights, steps, at->key + start, width, 0,
                            grad->query + start, width);
            matrix_multiply_transposed_a(steps, head_width, steps, 1, grad_weights, steps, at->query + start,
                                         width, 0, grad->key + start, width);
        }
}

void attention_backward(const struct attention_shape *shape, const struct attention_layout *layout,
                        const float *parameters, const float *input, float *saved, const float *grad_output,
                        float *grad_input, float *grad_parameters, const struct layer_pass *pass) {
    struct saved_matrices at = saved_matrices_of(shape, saved);
    /* The scratch is laid out like `saved`, with room for the weights of one head. */
    struct saved_matrices grad = saved_matrices_of(shape, pass->scratch);
    size_t width = shape->width, rows = shape->count * shape->steps;
    bool wanted = grad_parameters != NULL;
    linear_backward(parameters + layout->output_weight, at.context, grad_output, grad.context, false,
                    wanted ? grad_parameters + layout->output_weight : NULL,
                    wanted ? grad_parameters + layout->output_bias : NULL, rows, width, width);
    backward_heads(shape, &at, &grad, pass);
    const size_t weight[] = {layout->query_weight, layout->key_weight, layout->value_weight};
    const size_t bias[] = {layout->query_bias, layout->key_bias, layout->value_bias};
    const float *const grad_projection[] = {grad.query, grad.key, grad.value};
    for (size_t i = 0; i < 3; i++)
        linear_backward(parameters + weight[i], input, grad_projection[i], grad_input, i > 0,
                        wanted ? grad_parameters + weight[i] : NULL,
                        wanted ? grad_parameters + bias[i] : NULL, rows, width, width);
}

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)width;
    (void)options;
    return input;
}

static struct attention_shape shape_of(const struct layer *layer, size_t count) {
    return (struct attention_shape){count, layer->input.steps, layer->input.width,
                                    layer->options.heads == 0 ? 1 : layer->options.heads,
                                    layer->options.mask};
}

static bool has_torch_layout(const struct layer *layer) {
    return layer->type == &layer_torch_multi_head_attention;
}

static struct attention_layout layout_of(const struct layer *layer) {
    return has_torch_layout(layer) ? attention_layout_torch(layer->input.width)
                                   : attention_layout_separate(layer->input.width);
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    attention_describe(layer->input.width, has_torch_layout(layer), "", tensors, &count);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    attention_initialise(layer->input.width, has_torch_layout(layer), parameters, generator);
}

static size_t saved_size(const struct layer *layer, size_t count) {
    struct attention_shape shape = shape_of(layer, count);
    return attention_saved_size(&shape);
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    struct attention_shape shape = shape_of(layer, count);
    return attention_scratch_size(&shape);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    struct attention_shape shape = shape_of(layer, pass->count);
    struct attention_layout layout = layout_of(layer);
    attention_forward(&shape, &layout, parameters, input, output, saved, pass);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    struct attention_shape shape = shape_of(layer, pass->count);
    struct attention_layout layout = layout_of(layer);
    attention_backward(&shape, &layout, parameters, input, saved, grad_output, grad_input, grad_parameters,
                       pass);
}

static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    struct attention_shape shape = shape_of(layer, pass->count);
    memcpy(weights, attention_saved_weights(&shape, saved),
           shape.count * shape.heads * shape.steps * shape.steps * sizeof *weights);
}

const struct layer_type layer_multi_head_attention = {
    .name = "multi-head attention",
    .output_shape = output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
    .attention = attention,
};

const struct layer_type layer_torch_multi_head_attention = {
    .name = "multi-head attention (packed)",
    .output_shape = output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
    .attention = attention,
};
