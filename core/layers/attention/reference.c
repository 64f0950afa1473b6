/* Attention by the book: see reference.h. attend() is the forward pass and attend_backward() the backward
 * pass; the rest is projections and memory layout. */
#include "core/layers/attention/reference.h"

#include "core/layers/attention/pairs.h"

#include "core/layers/attention/multi_head.h"
#include "core/layers/attention/pooled.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* One example. */
struct example {
    size_t steps, width, heads, head_width;
    bool is_unscaled, is_causal, is_pooled;
    const uint8_t *present;          /* [steps]; NULL: no padding */
    const struct position *position; /* may rotate */
    /* Kept from forward to backward. */
    float *query, *key, *value; /* [steps][width]: after the projections; queries and keys rotated */
    float *context;             /* [steps][width]: weighted sums of values, the heads side by side */
    float *weights;             /* [heads][steps][steps] */
    float *rotations;           /* [steps][head_width] */
};

static size_t example_size(const struct layer *layer) {
    size_t steps = layer->input.steps, width = layer->input.width, heads = layer->options.heads;
    return 4 * steps * width + heads * steps * steps + steps * (width / heads);
}

static struct example example_of(const struct layer *layer, size_t index, float *saved,
                                 const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->input.width, size = steps * width;
    size_t heads = layer->options.heads;
    float *first = saved + index * example_size(layer);
    return (struct example){
        .steps = steps,
        .width = width,
        .heads = heads,
        .head_width = width / heads,
        .is_causal = layer->options.mask == ATTENTION_MASK_CAUSAL,
        .is_unscaled = layer->options.unscaled_scores,
        .is_pooled = layer->type == &layer_reference_pooled_attention,
        .present = pass->present == NULL ? NULL : pass->present + index * steps,
        .position = layer->options.position,
        .query = first,
        .key = first + size,
        .value = first + 2 * size,
        .context = first + 3 * size,
        .weights = first + 4 * size,
        .rotations = first + 4 * size + heads * steps * steps,
    };
}

/* The projections follow one another: query, key, value, output; each is a weight [width][width] and a
 * bias. */
enum projection { QUERY, KEY, VALUE, OUTPUT };

static size_t weight_offset(enum projection which, size_t width) {
    return (size_t)which * (width * width + width);
}

static size_t bias_offset(enum projection which, size_t width) {
    return weight_offset(which, width) + width * width;
}

/* Computes output = input weight^T + bias for every row. */
static void project(const float *parameters, enum projection which, const float *input, size_t rows,
                    size_t width, float *output) {
    const float *weight = parameters + weight_offset(which, width);
    const float *bias = parameters + bias_offset(which, width);
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < width; o++) {
            double sum = (double)bias[o];
            for (size_t i = 0; i < width; i++)
                sum += (double)weight[o * width + i] * (double)input[r * width + i];
            output[r * width + o] = (float)sum;
        }
}

/* Adds to the gradients of the input, the weight and the bias. The last two have the layout of a projection;
 * they may be NULL. */
static void project_backward(const float *parameters, enum projection which, const float *input,
                             const float *grad_output, size_t rows, size_t width, float *grad_input,
                             float *grad_parameters) {
    const float *weight = parameters + weight_offset(which, width);
    float *grad_weight = grad_parameters == NULL ? NULL : grad_parameters + weight_offset(which, width);
    for (size_t r = 0; r < rows; r++)
        for (size_t o = 0; o < width; o++) {
            float gradient = grad_output[r * width + o];
            for (size_t i = 0; i < width; i++) {
                if (grad_input != NULL)
                    grad_input[r * width + i] += gradient * weight[o * width + i];
                if (grad_parameters != NULL)
                    grad_weight[o * width + i] += gradient * input[r * width + i];
            }
            if (grad_parameters != NULL)
                grad_parameters[bias_offset(which, width) + o] += gradient;
        }
}

static bool is_present(const struct example *example, size_t step) {
    return example->present == NULL || example->present[step] != 0;
}

/* Whether the query of one step may attend to the key of another. */
static bool sees(const struct example *example, size_t query, size_t key) {
    if (example->is_causal && key > query)
        return false;
    if (example->is_pooled && !is_present(example, query))
        return false;
    return is_present(example, key);
}

static double dot(const float *a, const float *b, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

/* sum += factor * values */
static void add_scaled(double factor, const float *values, size_t count, float *sum) {
    for (size_t i = 0; i < count; i++)
        sum[i] = (float)((double)sum[i] + factor * (double)values[i]);
}

/* Returns the head_width numbers of one step and head in a [steps][width] matrix. */
static float *at(const struct example *example, float *matrix, size_t step, size_t head) {
    return matrix + step * example->width + head * example->head_width;
}

static double score_scale(const struct example *example) {
    return example->is_unscaled ? 1 : 1 / sqrt((double)example->head_width);
}

/* q . k / sqrt(D); infinite if float32 cannot hold it, as in the algorithms that work in float32. */
static double score_of(const struct example *example, size_t head, size_t query, size_t key) {
    double score = score_scale(example) * dot(at(example, example->query, query, head),
                                              at(example, example->key, key, head), example->head_width);
    return fabs(score) > (double)FLT_MAX ? copysign(INFINITY, score) : score;
}

/* Computes one query of one head. The weights are the softmax of q . k / sqrt(D) over the keys that it sees,
 * all 0 if it sees none; the context is the sum of weight times value. As in PyTorch a score that is NaN or
 * infinite, or infinitely small scores alone, make all NaN. */
static void attend(const struct example *example, size_t head, size_t i, float *weights) {
    float *context = at(example, example->context, i, head);
    double largest = -INFINITY, sum = 0;
    memset(weights, 0, example->steps * sizeof *weights);
    memset(context, 0, example->head_width * sizeof *context);
    for (size_t j = 0; j < example->steps; j++)
        if (sees(example, i, j))
            largest = fmax(largest, score_of(example, head, i, j));
    for (size_t j = 0; j < example->steps; j++)
        if (sees(example, i, j)) {
            weights[j] = (float)exp(score_of(example, head, i, j) - largest);
            sum += (double)weights[j];
        }
    for (size_t j = 0; j < example->steps; j++)
        if (sees(example, i, j) || isnan(sum)) {
            weights[j] = (float)((double)weights[j] / sum);
            add_scaled((double)weights[j], at(example, example->value, j, head), example->head_width,
                       context);
        }
}

/* Propagates the gradient of a query's context back: if g_j = dC . v_j is the gradient of weight w_j, that of
 * its score is w_j (g_j - sum_k w_k g_k). Adds to the gradients of the query, the keys and the values. */
static void attend_backward(const struct example *example, size_t head, size_t i, const float *weights,
                            float *grad_context, float *grad_query, float *grad_key, float *grad_value) {
    const float *gradient = at(example, grad_context, i, head);
    double mean = 0;
    for (size_t j = 0; j < example->steps; j++)
        mean += (double)weights[j] * dot(gradient, at(example, example->value, j, head), example->head_width);
    for (size_t j = 0; j < example->steps; j++) {
        double grad_weight = dot(gradient, at(example, example->value, j, head), example->head_width);
        double grad_score = (double)weights[j] * (grad_weight - mean) * score_scale(example);
        add_scaled((double)weights[j], gradient, example->head_width, at(example, grad_value, j, head));
        add_scaled(grad_score, at(example, example->key, j, head), example->head_width,
                   at(example, grad_query, i, head));
        add_scaled(grad_score, at(example, example->query, i, head), example->head_width,
                   at(example, grad_key, j, head));
    }
}

/* Rotates every step's part of a matrix, head by head, by its position. */
static void rotate(const struct example *example, float *matrix, bool backward) {
    for (size_t t = 0; t < example->steps; t++)
        for (size_t head = 0; position_rotates(example->position) && head < example->heads; head++)
            example->position->rotate(example->rotations + t * example->head_width,
                                      at(example, matrix, t, head), example->head_width, backward);
}

static double present_steps(const struct example *example) {
    double count = 0;
    for (size_t t = 0; t < example->steps; t++)
        count += is_present(example, t) ? 1 : 0;
    return count;
}

static void forward_example(const struct example *example, const float *parameters, const float *input,
                            float *output) {
    size_t steps = example->steps, width = example->width;
    project(parameters, QUERY, input, steps, width, example->query);
    project(parameters, KEY, input, steps, width, example->key);
    project(parameters, VALUE, input, steps, width, example->value);
    if (position_rotates(example->position))
        example->position->fill_rotations(example->rotations, steps, example->head_width);
    rotate(example, example->query, false);
    rotate(example, example->key, false);
    for (size_t head = 0; head < example->heads; head++)
        for (size_t i = 0; i < steps; i++)
            attend(example, head, i, example->weights + (head * steps + i) * steps);
    if (!example->is_pooled) {
        project(parameters, OUTPUT, example->context, steps, width, output);
        return;
    }
    memset(output, 0, width * sizeof *output);
    if (present_steps(example) == 0)
        memcpy(output, parameters + bias_offset(VALUE, width), width * sizeof *output);
    for (size_t i = 0; i < steps; i++)
        if (is_present(example, i))
            add_scaled(1 / present_steps(example), example->context + i * width, width, output);
}

/* Computes grad_context[steps][width] from the gradient of the output. */
static void output_backward(const struct example *example, const float *parameters, const float *grad_output,
                            float *grad_context, float *grad_parameters) {
    size_t steps = example->steps, width = example->width;
    if (!example->is_pooled) {
        project_backward(parameters, OUTPUT, example->context, grad_output, steps, width, grad_context,
                         grad_parameters);
        return;
    }
    if (present_steps(example) == 0 && grad_parameters != NULL)
        add_scaled(1, grad_output, width, grad_parameters + bias_offset(VALUE, width));
    for (size_t i = 0; i < steps; i++)
        if (is_present(example, i))
            add_scaled(1 / present_steps(example), grad_output, width, grad_context + i * width);
}

/* `scratch` holds the gradients of context, query, key and value, initially zero. grad_input may be NULL. */
static void backward_example(const struct example *example, const float *parameters, const float *input,
                             const float *grad_output, float *scratch, float *grad_input,
                             float *grad_parameters) {
    size_t steps = example->steps, width = example->width, size = steps * width;
    float *grad_context = scratch, *grad_query = scratch + size;
    float *grad_key = scratch + 2 * size, *grad_value = scratch + 3 * size;
    output_backward(example, parameters, grad_output, grad_context, grad_parameters);
    for (size_t head = 0; head < example->heads; head++)
        for (size_t i = 0; i < steps; i++)
            attend_backward(example, head, i, example->weights + (head * steps + i) * steps, grad_context,
                            grad_query, grad_key, grad_value);
    rotate(example, grad_query, true);
    rotate(example, grad_key, true);
    project_backward(parameters, QUERY, input, grad_query, steps, width, grad_input, grad_parameters);
    project_backward(parameters, KEY, input, grad_key, steps, width, grad_input, grad_parameters);
    project_backward(parameters, VALUE, input, grad_value, steps, width, grad_input, grad_parameters);
}

static size_t saved_size(const struct layer *layer, size_t count) {
    return count * example_size(layer);
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    (void)count;
    return 4 * layer->input.steps * layer->input.width;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    for (size_t i = 0; i < pass->count; i++) {
        struct example example = example_of(layer, i, saved, pass);
        forward_example(&example, parameters, input + i * example.steps * example.width,
                        output + i * layer->output.steps * example.width);
    }
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    size_t size = layer->input.steps * layer->input.width;
    if (grad_input != NULL)
        memset(grad_input, 0, pass->count * size * sizeof *grad_input);
    for (size_t i = 0; i < pass->count; i++) {
        struct example example = example_of(layer, i, saved, pass);
        memset(pass->scratch, 0, 4 * size * sizeof *pass->scratch);
        backward_example(&example, parameters, input + i * size,
                         grad_output + i * layer->output.steps * example.width, pass->scratch,
                         grad_input == NULL ? NULL : grad_input + i * size, grad_parameters);
    }
}

static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    for (size_t i = 0; i < pass->count; i++) {
        struct example example = example_of(layer, i, (float *)(uintptr_t)saved, pass);
        size_t size = example.heads * example.steps * example.steps;
        memcpy(weights + i * size, example.weights, size * sizeof *weights);
    }
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0;
    multi_head_describe(layer->input.width, false, "", tensors, &count);
    return count;
}

const struct layer_type layer_reference_attention = {
    .name = "attention by the book",
    .output_shape = layer_same_shape,
    .describe = describe,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
};

const struct layer_type layer_reference_pooled_attention = {
    .name = "attention by the book, averaged over its queries",
    .output_shape = pooled_attention_output_shape,
    .describe = pooled_attention_describe,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
};
