/* Attention as textbooks compute it: see textbook.h. */
#include "core/layers/attention/textbook.h"

#include "core/layers/attention/pairs.h"
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/tiled_head.h"
#include "core/layers/linear.h"
#include "core/math/matrix.h"

static bool is_tiled(const struct layer *layer) {
    return layer->type == &layer_textbook_tiled_attention;
}

/* The floats of one example's scores; in tiles, of two numbers for each row of its softmax. */
static size_t scores_size(const struct layer *layer) {
    size_t steps = layer->input.steps;
    return is_tiled(layer) ? 2 * steps : steps * steps;
}

static size_t saved_size(const struct layer *layer, size_t count) {
    return count * (4 * layer->input.steps * layer->input.width + scores_size(layer));
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    (void)count;
    return is_tiled(layer) ? tiled_head_scratch_size(layer->input.steps, layer->input.width) : 0;
}

/* One example: context[steps][width] = softmax(scale Q K^T) V. */
static void attend(const struct layer *layer, const struct attention_head *head, float *scores,
                   float *context, const struct layer_pass *pass) {
    size_t steps = head->steps, width = head->width;
    struct tiled_head tiled = {.head = head, .kernels = pass->kernels, .scratch = pass->scratch};
    if (is_tiled(layer)) {
        struct row_softmax rows = {scores, scores + steps};
        tiled_head_forward(&tiled, &rows, context);
        return;
    }
    matrix_multiply_transposed_b(steps, steps, width, 1, head->query, width, head->key, width, 0, scores,
                                 steps);
    pass->kernels->softmax_rows(scores, steps, steps, head->scale);
    matrix_multiply(steps, width, steps, 1, scores, steps, head->value, width, 0, context, width);
}

static void average_rows(const float *rows, size_t count, size_t width, float *mean) {
    for (size_t j = 0; j < width; j++)
        mean[j] = 0;
    for (size_t row = 0; row < count; row++)
        for (size_t j = 0; j < width; j++)
            mean[j] += rows[row * width + j] / (float)count;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->input.width, rows = pass->count * steps;
    struct pooled_attention_projections at = pooled_attention_projections_of(parameters, width);
    float *query = saved, *key = query + rows * width, *value = key + rows * width;
    float *context = value + rows * width, *scores = context + rows * width;
    linear_forward(at.query, at.query_bias, input, query, rows, width, width);
    linear_forward(at.key, at.key_bias, input, key, rows, width, width);
    linear_forward(at.value, at.value_bias, input, value, rows, width, width);
    for (size_t i = 0; i < pass->count && !layer_pass_is_stopped(pass); i++) {
        size_t start = i * steps * width;
        struct attention_head head = {.steps = steps,
                                      .width = width,
                                      .row = width,
                                      .scale = (float)(1 / attention_score_divisor(&layer->options, width)),
                                      .query = query + start,
                                      .key = key + start,
                                      .value = value + start};
        attend(layer, &head, scores + i * scores_size(layer), context + start, pass);
        average_rows(context + start, steps, width, output + i * width);
    }
}

const struct layer_type layer_textbook_attention = {
    .name = "attention by the textbook",
    .output_shape = pooled_attention_output_shape,
    .describe = pooled_attention_describe,
    .initialise = pooled_attention_initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
};

const struct layer_type layer_textbook_tiled_attention = {
    .name = "attention by the textbook, in tiles",
    .output_shape = pooled_attention_output_shape,
    .describe = pooled_attention_describe,
    .initialise = pooled_attention_initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
};
