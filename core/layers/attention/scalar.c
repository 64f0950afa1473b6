/* Attention over numbers: see scalar.h, also for the names u, p, Uq, Uk, Pq and Pk. In addition, A = Uq.Uk,
 * B = Pk Uq, C = Pq Uk and D = Pq Pk^T, all scaled by score_scale, and z_b = sum_j m_bj h_bj. */
#include "core/layers/attention/scalar.h"

#include "core/layers/attention/mask.h"
#include "core/layers/linear.h"
#include "core/layers/positions/position.h"
#include "core/math/matrix.h"
#include "core/math/shared_scores.h"

#include <math.h>
#include <string.h>

static size_t padded_steps(const struct layer *layer) {
    size_t lanes = SHARED_SCORES_LANES;
    return (layer->input.steps + lanes - 1) / lanes * lanes;
}

/* The values saved from forward to backward. */
struct saved_parts {
    /* Common to the batch. */
    float *place, *query_base, *key_base; /* [T][width]: p, Pq, Pk */
    float *query_slope, *key_slope;       /* [width]: Uq, Uk */
    float *fixed;                         /* [T][stride]: D or hidden */
    float *column, *row;                  /* [stride]: B, C */
    /* For each example. */
    float *x;                    /* [count][stride] */
    float *exponentials;         /* [count][T][stride] */
    float *inverse_sums, *share; /* [count][stride]; share is m */
    float *pooled;               /* [count]: sum_j m_j x_j */
    float *pooled_input;         /* [count][width]: z */
};

/* Lays out the parts; returns their total size. */
static size_t lay_out(struct saved_parts *parts, float *saved, const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer), used = 0;
    struct {
        float **part;
        size_t size;
    } layout[] = {
        {&parts->fixed, steps * stride},
        {&parts->exponentials, count * steps * stride},
        {&parts->column, stride},
        {&parts->row, stride},
        {&parts->x, count * stride},
        {&parts->inverse_sums, count * stride},
        {&parts->share, count * stride},
        {&parts->place, steps * width},
        {&parts->query_base, steps * width},
        {&parts->key_base, steps * width},
        {&parts->query_slope, width},
        {&parts->key_slope, width},
        {&parts->pooled, count},
        {&parts->pooled_input, count * width},
    };
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        *layout[i].part = saved == NULL ? NULL : saved + used;
        used += layout[i].size;
    }
    return used;
}

static size_t saved_size(const struct layer *layer, size_t count) {
    struct saved_parts parts;
    return lay_out(&parts, NULL, layer, count);
}

static struct saved_parts parts_of(const float *saved, const struct layer *layer, size_t count) {
    struct saved_parts parts;
    lay_out(&parts, (float *)(uintptr_t)saved, layer, count);
    return parts;
}

/* The intermediate gradients, for the batch and for an example. */
struct gradients {
    float *fixed, *column, *row;                   /* [T][stride], [stride], [stride]: of D, B, C */
    float *share;                                  /* [count][stride]: of m */
    float *pooled_input;                           /* [count][width]: dz */
    float *place, *query_base, *key_base;          /* [T][width] */
    float *input_weight, *query_slope, *key_slope; /* [width] */
};

static size_t lay_out_gradients(struct gradients *parts, float *scratch, const struct layer *layer,
                                size_t count) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer), used = 0;
    struct {
        float **part;
        size_t size;
    } layout[] = {
        {&parts->fixed, steps * stride},
        {&parts->column, stride},
        {&parts->row, stride},
        {&parts->share, count * stride},
        {&parts->input_weight, width},
        {&parts->place, steps * width},
        {&parts->query_base, steps * width},
        {&parts->key_base, steps * width},
        {&parts->query_slope, width},
        {&parts->key_slope, width},
        {&parts->pooled_input, count * width},
    };
    for (size_t i = 0; i < sizeof layout / sizeof *layout; i++) {
        *layout[i].part = scratch == NULL ? NULL : scratch + used;
        used += layout[i].size;
    }
    return used;
}

/* Forward uses the scratch first as that of the position's layer, then for the fixed scores of a padded
 * example. */
static size_t scratch_size(const struct layer *layer, size_t count) {
    struct gradients parts;
    struct layer position;
    size_t size = lay_out_gradients(&parts, NULL, layer, count);
    size_t padded = layer->input.steps * padded_steps(layer);
    size = padded > size ? padded : size;
    if (!scalar_attention_position_layer(layer, &position))
        return size;
    size_t placed = layer->input.steps * layer->output.width + layer_scratch_size(&position, 1);
    return placed > size ? placed : size;
}

/* Hides the keys in fixed[T][stride] that are hidden in all examples: by the mask, and by the padding to
 * whole vectors. */
static void hide_masked_scores(const struct layer *layer, float *fixed) {
    size_t steps = layer->input.steps, stride = padded_steps(layer);
    struct visible_keys visible = {.is_causal = layer->options.mask == ATTENTION_MASK_CAUSAL};
    struct score_block all = {0, steps, 0, steps};
    visible_keys_hide_others(&visible, &all, fixed, stride);
    for (size_t i = 0; i < steps; i++)
        for (size_t j = steps; j < stride; j++)
            fixed[i * stride + j] = -INFINITY;
}

/* Hides the padding of one example: its padded keys from all queries, and all keys from its padded queries.
 */
static void hide_padded_scores(const struct layer *layer, const uint8_t *present, float *fixed) {
    size_t steps = layer->input.steps, stride = padded_steps(layer);
    struct visible_keys visible = {.present = present};
    struct score_block all = {0, steps, 0, steps};
    visible_keys_hide_others(&visible, &all, fixed, stride);
    for (size_t i = 0; i < steps; i++)
        for (size_t j = 0; present[i] == 0 && j < steps; j++)
            fixed[i * stride + j] = -INFINITY;
}

/* Computes p_t, the input's bias plus the position. The position is its layer's output for zeros. */
static void fill_places(const struct layer *layer, const struct scalar_attention_parts *weights, float *place,
                        const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width;
    struct layer position;
    memset(place, 0, steps * width * sizeof *place);
    if (scalar_attention_position_layer(layer, &position)) {
        float *zeros = pass->scratch;
        struct layer_pass one = {.kernels = pass->kernels, .count = 1, .scratch = zeros + steps * width};
        memset(zeros, 0, steps * width * sizeof *zeros);
        position.type->forward(&position, weights->positions, zeros, place, NULL, &one);
    }
    for (size_t t = 0; t < steps; t++)
        for (size_t k = 0; k < width; k++)
            place[t * width + k] += weights->input_bias[k];
}

static void prepare_batch(const struct layer *layer, const struct scalar_attention_parts *weights,
                          const struct saved_parts *parts, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer);
    float scale = scalar_attention_score_scale(layer);
    fill_places(layer, weights, parts->place, pass);
    linear_forward(weights->query_weight, weights->query_bias, parts->place, parts->query_base, steps, width,
                   width);
    linear_forward(weights->key_weight, weights->key_bias, parts->place, parts->key_base, steps, width,
                   width);
    matrix_multiply_transposed_b(1, width, width, 1, weights->input_weight, width, weights->query_weight,
                                 width, 0, parts->query_slope, width);
    matrix_multiply_transposed_b(1, width, width, 1, weights->input_weight, width, weights->key_weight, width,
                                 0, parts->key_slope, width);
    memset(parts->column, 0, stride * sizeof *parts->column);
    memset(parts->row, 0, stride * sizeof *parts->row);
    matrix_multiply_transposed_b(1, steps, width, scale, parts->query_slope, width, parts->key_base, width, 0,
                                 parts->column, steps);
    matrix_multiply_transposed_b(1, steps, width, scale, parts->key_slope, width, parts->query_base, width, 0,
                                 parts->row, steps);
    matrix_multiply_transposed_b(steps, steps, width, scale, parts->query_base, width, parts->key_base, width,
                                 0, parts->fixed, stride);
    hide_masked_scores(layer, parts->fixed);
}

static struct shared_scores scores_of(const struct layer *layer, const struct saved_parts *parts) {
    struct shared_scores scores = {.steps = layer->input.steps,
                                   .stride = padded_steps(layer),
                                   .row = parts->row,
                                   .column = parts->column,
                                   .fixed = parts->fixed};
    scores.square = scalar_attention_score_scale(layer) *
                    scalar_attention_dot(parts->query_slope, parts->key_slope, layer->output.width);
    return scores;
}

/* Computes again the rows whose softmax is NaN, with the hidden keys left out: where a hidden key's score is
 * larger than float32 holds, the kernels add +INFINITY to the -INFINITY that hides it. A row stays NaN if a
 * key that it sees overflows. */
static void attend_without_hidden_keys(const struct shared_scores *scores, const float *x,
                                       float *exponentials, float *inverse_sums) {
    for (size_t i = 0; i < scores->steps; i++) {
        float *to = exponentials + i * scores->stride, largest = -INFINITY, sum = 0;
        const float *fixed = scores->fixed + i * scores->stride;
        float slope = scores->square * x[i] + scores->row[i];
        if (!isnan(inverse_sums[i]))
            continue;
        for (size_t j = 0; j < scores->stride; j++) {
            bool is_hidden = fixed[j] == -INFINITY;
            to[j] = is_hidden ? -INFINITY : slope * x[j] + fixed[j] + x[i] * scores->column[j];
            largest = fmaxf(largest, to[j]);
        }
        for (size_t j = 0; j < scores->stride; j++) {
            to[j] = fixed[j] == -INFINITY ? 0 : exp2f(to[j] - largest);
            sum += to[j];
        }
        inverse_sums[i] = shared_scores_inverse(scores, i, sum);
    }
}

static bool has_nan(const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (isnan(values[i]))
            return true;
    return false;
}

/* The softmax of one example, and the sum of each key's weights. */
static void share_out(const struct shared_scores *scores, const float *x, float *exponentials,
                      float *inverse_sums, float *share, const struct kernels *kernels) {
    size_t stride = scores->stride;
    kernels->shared_scores_forward(scores, x, exponentials, inverse_sums, share);
    if (!has_nan(inverse_sums, scores->steps))
        return;
    attend_without_hidden_keys(scores, x, exponentials, inverse_sums);
    memset(share, 0, stride * sizeof *share);
    for (size_t i = 0; i < scores->steps; i++)
        for (size_t j = 0; j < stride; j++)
            share[j] += inverse_sums[i] * exponentials[i * stride + j];
}

/* Computes the softmax of one example; stores m in its share. */
static void attend(const struct layer *layer, const struct saved_parts *parts, struct shared_scores scores,
                   const float *input, size_t b, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, stride = scores.stride, at = b * stride;
    float *x = parts->x + at, *share = parts->share + at;
    memcpy(x, input + b * steps, steps * sizeof *x);
    memset(x + steps, 0, (stride - steps) * sizeof *x);
    if (pass->present != NULL) {
        float *fixed = pass->scratch;
        memcpy(fixed, scores.fixed, steps * stride * sizeof *fixed);
        hide_padded_scores(layer, pass->present + b * steps, fixed);
        scores.fixed = fixed;
        scores.present = pass->present + b * steps;
    }
    share_out(&scores, x, parts->exponentials + b * steps * stride, parts->inverse_sums + at, share,
              pass->kernels);
    size_t queries = scalar_attention_real_steps(layer, b, pass);
    float factor = queries > 0 ? 1 / (float)queries : 0, pooled = 0;
    for (size_t j = 0; j < stride; j++) {
        share[j] *= factor;
        pooled += share[j] * x[j];
    }
    parts->pooled[b] = pooled;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer);
    struct scalar_attention_parts weights = scalar_attention_parts_of(layer, parameters);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    prepare_batch(layer, &weights, &parts, pass);
    struct shared_scores scores = scores_of(layer, &parts);
    for (size_t b = 0; b < pass->count && !layer_pass_is_stopped(pass); b++)
        attend(layer, &parts, scores, input, b, pass);
    matrix_multiply(pass->count, width, steps, 1, parts.share, stride, parts.place, width, 0,
                    parts.pooled_input, width);
    matrix_multiply(pass->count, width, 1, 1, parts.pooled, 1, weights.input_weight, width, 1,
                    parts.pooled_input, width);
    linear_forward(weights.value_weight, weights.value_bias, parts.pooled_input, output, pass->count, width,
                   width);
}

/* Computes grad_x[T] of one example. A step contributes as key j of every row, as query i of its own row, and
 * to z. */
static void send_to_input(const struct layer *layer, const struct saved_parts *parts,
                          const struct gradients *gradients, const struct shared_scores *scores, size_t b,
                          float grad_pooled, float *grad_x) {
    size_t steps = layer->input.steps, stride = scores->stride, at = b * stride;
    const float *grad_share = gradients->share + at, *share = parts->share + at, *x = parts->x + at;
    for (size_t j = 0; j < steps; j++)
        grad_x[j] = share[j] * grad_pooled;
    for (size_t i = 0; i < steps; i++) {
        const float *row = parts->exponentials + (b * steps + i) * stride;
        float inverse = parts->inverse_sums[at + i],
              mean = inverse * scalar_attention_dot(row, grad_share, stride);
        float slope = scores->square * x[i] + scores->row[i];
        for (size_t j = 0; j < steps; j++) {
            float change = inverse * row[j] * (grad_share[j] - mean);
            if (change == 0) /* the slope of a hidden key may be infinite */
                continue;
            grad_x[j] += change * slope;
            grad_x[i] += change * (scores->square * x[j] + scores->column[j]);
        }
    }
}

/* Adds one example's part of the gradients of A, B, C, D and x. gradients->share holds dm. */
static void attend_backward(const struct layer *layer, const struct scalar_attention_parts *weights,
                            const struct saved_parts *parts, const struct gradients *gradients,
                            const struct shared_scores *scores, struct shared_scores_gradient *sums, size_t b,
                            float *grad_input, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = scores->stride;
    const float *x = parts->x + b * stride;
    float *grad_share = gradients->share + b * stride;
    size_t queries = scalar_attention_real_steps(layer, b, pass);
    float grad_pooled =
        scalar_attention_dot(weights->input_weight, gradients->pooled_input + b * width, width);
    float factor = queries > 0 ? LN_OF_2 / (float)queries : 0;
    for (size_t j = 0; j < steps; j++)
        grad_share[j] = factor * (grad_share[j] + grad_pooled * x[j]);
    pass->kernels->shared_scores_backward(scores, x, parts->exponentials + b * steps * stride,
                                          parts->inverse_sums + b * stride, grad_share, sums);
    if (grad_input != NULL)
        send_to_input(layer, parts, gradients, scores, b, grad_pooled, grad_input + b * steps);
}

/* Computes the gradients of Uq, Uk, Pq, Pk from those of A, B, C, D. */
static void split_scores(const struct layer *layer, const struct saved_parts *parts,
                         const struct gradients *gradients, float grad_square) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer);
    float scale = scalar_attention_score_scale(layer);
    for (size_t k = 0; k < width; k++) {
        gradients->query_slope[k] = scale * grad_square * parts->key_slope[k];
        gradients->key_slope[k] = scale * grad_square * parts->query_slope[k];
    }
    matrix_multiply(1, width, steps, scale, gradients->column, stride, parts->key_base, width, 1,
                    gradients->query_slope, width);
    matrix_multiply(1, width, steps, scale, gradients->row, stride, parts->query_base, width, 1,
                    gradients->key_slope, width);
    matrix_multiply(steps, width, steps, scale, gradients->fixed, stride, parts->key_base, width, 0,
                    gradients->query_base, width);
    matrix_multiply(steps, width, 1, scale, gradients->row, 1, parts->key_slope, width, 1,
                    gradients->query_base, width);
    matrix_multiply_transposed_a(steps, width, steps, scale, gradients->fixed, stride, parts->query_base,
                                 width, 0, gradients->key_base, width);
    matrix_multiply(steps, width, 1, scale, gradients->column, 1, parts->query_slope, width, 1,
                    gradients->key_base, width);
}

/* Goes back through one projection, query or key: to its weight and bias, and to u and p. */
static void project_backward(const struct layer *layer, const struct scalar_attention_parts *weights,
                             const struct saved_parts *parts, const struct gradients *gradients,
                             const float *weight, const float *grad_slope, const float *grad_base,
                             float *grad_weight, float *grad_bias) {
    size_t steps = layer->input.steps, width = layer->output.width;
    linear_backward(weight, parts->place, grad_base, gradients->place, true, grad_weight, grad_bias, steps,
                    width, width);
    matrix_multiply(width, width, 1, 1, grad_slope, 1, weights->input_weight, width, 1, grad_weight, width);
    matrix_multiply(1, width, width, 1, grad_slope, width, weight, width, 1, gradients->input_weight, width);
}

static void add_parameter_gradients(const struct layer *layer, const struct scalar_attention_parts *weights,
                                    const struct saved_parts *parts, const struct gradients *gradients,
                                    float grad_square, const struct scalar_attention_parts *to,
                                    const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer);
    /* z = (m.x) u + sum_j m_j p_j */
    matrix_multiply(1, width, pass->count, 1, parts->pooled, pass->count, gradients->pooled_input, width, 0,
                    gradients->input_weight, width);
    matrix_multiply_transposed_a(steps, width, pass->count, 1, parts->share, stride, gradients->pooled_input,
                                 width, 0, gradients->place, width);
    split_scores(layer, parts, gradients, grad_square);
    project_backward(layer, weights, parts, gradients, weights->query_weight, gradients->query_slope,
                     gradients->query_base, to->query_weight, to->query_bias);
    project_backward(layer, weights, parts, gradients, weights->key_weight, gradients->key_slope,
                     gradients->key_base, to->key_weight, to->key_bias);
    pass->kernels->add_column_sums(gradients->input_weight, 1, width, to->input_weight);
    pass->kernels->add_column_sums(gradients->place, steps, width, to->input_bias);
    struct layer position;
    struct layer_pass one = {.kernels = pass->kernels, .count = 1};
    if (scalar_attention_position_layer(layer, &position))
        position.type->backward(&position, weights->positions, NULL, NULL, NULL, gradients->place, NULL,
                                to->positions, &one);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)input;
    (void)output;
    size_t steps = layer->input.steps, width = layer->output.width, stride = padded_steps(layer);
    struct scalar_attention_parts weights = scalar_attention_parts_of(layer, parameters), to = {0};
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    struct gradients gradients;
    lay_out_gradients(&gradients, pass->scratch, layer, pass->count);
    if (grad_parameters != NULL)
        to = scalar_attention_parts_of(layer, grad_parameters);
    linear_backward(weights.value_weight, parts.pooled_input, grad_output, gradients.pooled_input, false,
                    to.value_weight, to.value_bias, pass->count, width, width);
    /* The sums start at zero, and the padding must be zero. */
    memset(gradients.fixed, 0, steps * stride * sizeof *gradients.fixed);
    memset(gradients.column, 0, stride * sizeof *gradients.column);
    memset(gradients.row, 0, stride * sizeof *gradients.row);
    memset(gradients.share, 0, pass->count * stride * sizeof *gradients.share);
    matrix_multiply_transposed_b(pass->count, steps, width, 1, gradients.pooled_input, width, parts.place,
                                 width, 0, gradients.share, stride);
    struct shared_scores scores = scores_of(layer, &parts);
    struct shared_scores_gradient sums = {0, gradients.row, gradients.column, gradients.fixed};
    for (size_t b = 0; b < pass->count && !layer_pass_is_stopped(pass); b++)
        attend_backward(layer, &weights, &parts, &gradients, &scores, &sums, b, grad_input, pass);
    if (grad_parameters != NULL)
        add_parameter_gradients(layer, &weights, &parts, &gradients, sums.square, &to, pass);
}

static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    size_t steps = layer->input.steps, stride = padded_steps(layer);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    for (size_t b = 0; b < pass->count; b++)
        for (size_t i = 0; i < steps; i++) {
            const float *row = parts.exponentials + (b * steps + i) * stride;
            /* 0 for a padded query, whose scores may have overflowed all the same. */
            float inverse = parts.inverse_sums[b * stride + i];
            for (size_t j = 0; j < steps; j++)
                weights[(b * steps + i) * steps + j] = inverse == 0 ? 0 : row[j] * inverse;
        }
}

/* Measured: a pair of numbers takes as long as so many of the other layers' operations; more in long
 * sequences, whose matrix leaves the cache. */
static double pair_operations(const struct layer *layer) {
    enum { OPERATIONS_OF_PAIR = 50, STEPS_IN_CACHE = 256 };
    double steps = (double)layer->input.steps;
    return OPERATIONS_OF_PAIR * steps * steps * (1 + steps / STEPS_IN_CACHE);
}

const struct layer_type layer_scalar_attention = {
    .name = "attention over numbers with positions, averaged over its queries",
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
    .attention = attention,
};
