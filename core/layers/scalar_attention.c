/* Attention over single numbers: see scalar_attention.h. */
#include "core/layers/scalar_attention.h"

#include "core/layers/linear.h"
#include "core/layers/sinusoidal_position.h"
#include "core/math/matrix.h"
#include "core/random/torch_init.h"

#include <math.h>
#include <string.h>

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)input;
    (void)options;
    return (struct layer_shape){1, width};
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t width = layer->output.width, count = 0;
    tensor_describe(tensors, &count, "inp.weight", width, 1);
    tensor_describe(tensors, &count, "inp.bias", width, 0);
    if (layer->options.position == POSITION_LEARNED)
        tensors[count++] = (struct tensor){.name = "pos", .rank = 3, .shape = {1, layer->input.steps, width}};
    tensor_describe(tensors, &count, "q.weight", width, width);
    tensor_describe(tensors, &count, "q.bias", width, 0);
    tensor_describe(tensors, &count, "k.weight", width, width);
    tensor_describe(tensors, &count, "k.bias", width, 0);
    tensor_describe(tensors, &count, "v.weight", width, width);
    tensor_describe(tensors, &count, "v.bias", width, 0);
    return count;
}

/* Where the tensors lie in the layer's slice. */
struct offsets {
    size_t input, input_bias, position, query, query_bias, key, key_bias, value, value_bias;
};

static struct offsets offsets_of(const struct layer *layer) {
    size_t width = layer->output.width, square = width * width;
    struct offsets at = {.input = 0, .input_bias = width, .position = 2 * width};
    at.query = at.position + (layer->options.position == POSITION_LEARNED ? layer->input.steps * width : 0);
    at.query_bias = at.query + square;
    at.key = at.query_bias + width;
    at.key_bias = at.key + square;
    at.value = at.key_bias + width;
    at.value_bias = at.value + square;
    return at;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    size_t width = layer->output.width;
    struct offsets at = offsets_of(layer);
    torch_init_linear(generator, 1, width, parameters + at.input, parameters + at.input_bias);
    if (layer->options.position == POSITION_LEARNED)
        torch_init_positions(generator, layer->input.steps, width, 0.02, parameters + at.position);
    torch_init_linear(generator, width, width, parameters + at.query, parameters + at.query_bias);
    torch_init_linear(generator, width, width, parameters + at.key, parameters + at.key_bias);
    torch_init_linear(generator, width, width, parameters + at.value, parameters + at.value_bias);
}

/* Sizes that the code below uses throughout. */
struct sizes {
    size_t count, steps, width;
    size_t stride; /* steps, rounded up to whole vectors */
    size_t rows;   /* distinct p_t: steps, or 1 without positions */
    float scale;   /* of the scores: 1 / sqrt(width) */
};

static struct sizes sizes_of(const struct layer *layer, size_t count) {
    return (struct sizes){.count = count,
                          .steps = layer->input.steps,
                          .width = layer->output.width,
                          .stride = (layer->input.steps + 7) / 8 * 8,
                          .rows = layer->options.position == POSITION_NONE ? 1 : layer->input.steps,
                          .scale = 1 / sqrtf((float)layer->output.width)};
}

/* What forward leaves for backward. Up to `offset` for the whole batch; a, b, g and d are scaled already. */
struct saved_parts {
    float *positions;                 /* p[rows][width] */
    float *query_rows, *key_rows;     /* Pq, Pk[rows][width] */
    float *query_factor, *key_factor; /* Uq, Uk[width] */
    float *query_part, *key_part;     /* g[steps], b[stride] */
    float *offset;                    /* d[steps][stride] */
    float *padded_offset;             /* d with one example's padding hidden: [steps][stride] */
    float *x;                         /* [count][stride] */
    float *weights;                   /* [count][steps][stride] */
    float *share;                     /* m[count][stride] */
    float *pooled;                    /* [count][width]: sum_j m_j h_j */
    float *pooled_x;                  /* [count]: sum_j m_j x_j */
};

/* Takes `size` floats from *next. */
static float *take(float **next, size_t size) {
    float *taken = *next;
    *next += size;
    return taken;
}

static struct saved_parts parts_of(float *saved, const struct sizes *n) {
    return (struct saved_parts){.positions = take(&saved, n->rows * n->width),
                                .query_rows = take(&saved, n->rows * n->width),
                                .key_rows = take(&saved, n->rows * n->width),
                                .query_factor = take(&saved, n->width),
                                .key_factor = take(&saved, n->width),
                                .query_part = take(&saved, n->steps),
                                .key_part = take(&saved, n->stride),
                                .offset = take(&saved, n->steps * n->stride),
                                .padded_offset = take(&saved, n->steps * n->stride),
                                .x = take(&saved, n->count * n->stride),
                                .weights = take(&saved, n->count * n->steps * n->stride),
                                .share = take(&saved, n->count * n->stride),
                                .pooled = take(&saved, n->count * n->width),
                                .pooled_x = take(&saved, n->count)};
}

static size_t saved_size(const struct layer *layer, size_t count) {
    struct sizes n = sizes_of(layer, count);
    return 3 * n.rows * n.width + 2 * n.width + n.steps + n.stride + 2 * n.steps * n.stride +
           count * (2 * n.stride + n.steps * n.stride + n.width + 1);
}

/* p_t: the input's bias plus the position. */
static void fill_positions(const struct layer *layer, const struct sizes *n, const float *parameters,
                           float *positions) {
    struct offsets at = offsets_of(layer);
    if (layer->options.position == POSITION_LEARNED)
        memcpy(positions, parameters + at.position, n->rows * n->width * sizeof *positions);
    else if (layer->options.position == POSITION_SINUSOIDAL)
        sinusoidal_position_fill(positions, n->steps, n->width);
    else
        memset(positions, 0, n->width * sizeof *positions);
    for (size_t t = 0; t < n->rows; t++)
        for (size_t j = 0; j < n->width; j++)
            positions[t * n->width + j] += parameters[at.input_bias + j];
}

/* a, b, g and d from U and P. With one row of P, what b and d would hold vanishes in softmax: they stay zero.
 */
static struct scalar_scores prepare_scores(const struct layer *layer, const struct sizes *n,
                                           const float *parameters, const struct saved_parts *parts) {
    struct offsets at = offsets_of(layer);
    const float *u = parameters + at.input;
    size_t width = n->width, rows = n->rows;
    struct scalar_scores scores = {n->steps, n->stride, 0, parts->query_part, parts->key_part, parts->offset};
    fill_positions(layer, n, parameters, parts->positions);
    linear_forward(parameters + at.query, parameters + at.query_bias, parts->positions, parts->query_rows,
                   rows, width, width);
    linear_forward(parameters + at.key, parameters + at.key_bias, parts->positions, parts->key_rows, rows,
                   width, width);
    matrix_multiply(width, 1, width, 1, parameters + at.query, width, u, 1, 0, parts->query_factor, 1);
    matrix_multiply(width, 1, width, 1, parameters + at.key, width, u, 1, 0, parts->key_factor, 1);
    matrix_multiply(1, 1, width, n->scale, parts->query_factor, width, parts->key_factor, 1, 0,
                    &scores.square, 1);
    matrix_multiply(rows, 1, width, n->scale, parts->query_rows, width, parts->key_factor, 1, 0,
                    parts->query_part, 1);
    memset(parts->key_part, 0, n->stride * sizeof *parts->key_part);
    memset(parts->offset, 0, n->steps * n->stride * sizeof *parts->offset);
    if (rows == 1) {
        for (size_t i = 1; i < n->steps; i++)
            parts->query_part[i] = parts->query_part[0];
    } else {
        matrix_multiply(rows, 1, width, n->scale, parts->key_rows, width, parts->query_factor, 1, 0,
                        parts->key_part, 1);
        matrix_multiply_transposed_b(rows, rows, width, n->scale, parts->query_rows, width, parts->key_rows,
                                     width, 0, parts->offset, n->stride);
    }
    for (size_t i = 0; i < n->steps; i++)
        for (size_t j = layer->options.mask == ATTENTION_MASK_CAUSAL ? i + 1 : n->steps; j < n->stride; j++)
            parts->offset[i * n->stride + j] = -INFINITY;
    return scores;
}

/* One example where some steps are padding: those keys are hidden, those queries left out. */
static size_t attend_padded(const struct scalar_scores *scores, const float *x, const uint8_t *present,
                            float *offset, float *weights, float *share, const struct kernels *kernels) {
    struct scalar_scores hidden = *scores;
    size_t queries = 0, stride = scores->stride;
    memcpy(offset, scores->offset, scores->steps * stride * sizeof *offset);
    for (size_t i = 0; i < scores->steps; i++)
        for (size_t j = 0; j < scores->steps; j++)
            if (present[j] == 0)
                offset[i * stride + j] = -INFINITY;
    hidden.offset = offset;
    kernels->scalar_attention_forward(&hidden, x, weights, share);
    memset(share, 0, stride * sizeof *share);
    for (size_t i = 0; i < scores->steps; i++) {
        if (present[i] == 0)
            memset(weights + i * stride, 0, stride * sizeof *weights);
        for (size_t j = 0; j < stride; j++)
            share[j] += weights[i * stride + j];
        queries += present[i];
    }
    return queries;
}

/* 1 / the number of queries that example `index` averages over. */
static float query_share(const struct sizes *n, const struct layer_pass *pass, size_t index) {
    size_t queries = 0;
    if (pass->present == NULL)
        return 1 / (float)n->steps;
    for (size_t i = 0; i < n->steps; i++)
        queries += pass->present[index * n->steps + i];
    return queries > 0 ? 1 / (float)queries : 0;
}

static void attend(const struct sizes *n, const struct scalar_scores *scores, const struct saved_parts *parts,
                   const float *input, size_t index, const struct layer_pass *pass) {
    float *x = parts->x + index * n->stride, *share = parts->share + index * n->stride;
    float *weights = parts->weights + index * n->steps * n->stride, factor = query_share(n, pass, index),
          sum = 0;
    memset(x, 0, n->stride * sizeof *x);
    memcpy(x, input + index * n->steps, n->steps * sizeof *x);
    if (pass->present == NULL)
        pass->kernels->scalar_attention_forward(scores, x, weights, share);
    else
        attend_padded(scores, x, pass->present + index * n->steps, parts->padded_offset, weights, share,
                      pass->kernels);
    for (size_t j = 0; j < n->steps; j++) {
        share[j] *= factor;
        sum += share[j] * x[j];
    }
    parts->pooled_x[index] = sum;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    struct sizes n = sizes_of(layer, pass->count);
    struct offsets at = offsets_of(layer);
    struct saved_parts parts = parts_of(saved, &n);
    struct scalar_scores scores = prepare_scores(layer, &n, parameters, &parts);
    for (size_t i = 0; i < n.count; i++)
        attend(&n, &scores, &parts, input, i, pass);
    /* The pooled vector: sum_j m_j p_j, and then (sum_j m_j x_j) u. The shares add up to 1, so one p is
     * itself. */
    if (n.rows == 1)
        for (size_t i = 0; i < n.count; i++)
            memcpy(parts.pooled + i * n.width, parts.positions, n.width * sizeof *parts.pooled);
    else
        matrix_multiply(n.count, n.width, n.steps, 1, parts.share, n.stride, parts.positions, n.width, 0,
                        parts.pooled, n.width);
    matrix_multiply(n.count, n.width, 1, 1, parts.pooled_x, 1, parameters + at.input, n.width, 1,
                    parts.pooled, n.width);
    linear_forward(parameters + at.value, parameters + at.value_bias, parts.pooled, output, n.count, n.width,
                   n.width);
}

/* What backward needs while it runs. */
struct scratch_parts {
    float *grad_pooled;                     /* r[count][width] */
    float *along;                           /* r . u [count] */
    float *a;                               /* [count][stride] */
    float *grad_x;                          /* [stride] */
    float *grad_query_part, *grad_key_part; /* [steps], [stride] */
    float *grad_offset;                     /* [steps][stride] */
    float *grad_positions;                  /* [rows][width] */
    float *grad_query_rows, *grad_key_rows; /* [rows][width] */
    float *grad_factor;                     /* [width] */
};

static struct scratch_parts scratch_of(float *scratch, const struct sizes *n) {
    return (struct scratch_parts){.grad_pooled = take(&scratch, n->count * n->width),
                                  .along = take(&scratch, n->count),
                                  .a = take(&scratch, n->count * n->stride),
                                  .grad_x = take(&scratch, n->stride),
                                  .grad_query_part = take(&scratch, n->steps),
                                  .grad_key_part = take(&scratch, n->stride),
                                  .grad_offset = take(&scratch, n->steps * n->stride),
                                  .grad_positions = take(&scratch, n->rows * n->width),
                                  .grad_query_rows = take(&scratch, n->rows * n->width),
                                  .grad_key_rows = take(&scratch, n->rows * n->width),
                                  .grad_factor = take(&scratch, n->width)};
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    struct sizes n = sizes_of(layer, count);
    return count * (n.width + 1 + n.stride) + 2 * n.stride + n.steps + n.steps * n.stride +
           3 * n.rows * n.width + n.width;
}

/* a_j = (h_j . r) / queries, where what is the same for all j may be left out. */
static void fill_a(const struct sizes *n, const struct saved_parts *parts, const struct scratch_parts *own,
                   const struct layer_pass *pass) {
    memset(own->a, 0, n->count * n->stride * sizeof *own->a);
    if (n->rows > 1)
        matrix_multiply_transposed_b(n->count, n->steps, n->width, 1, own->grad_pooled, n->width,
                                     parts->positions, n->width, 0, own->a, n->stride);
    for (size_t i = 0; i < n->count; i++) {
        float factor = query_share(n, pass, i), *a = own->a + i * n->stride;
        for (size_t j = 0; j < n->steps; j++)
            a[j] = factor * (a[j] + own->along[i] * parts->x[i * n->stride + j]);
    }
}

/* Through the attention of every example; returns the gradient of `square`. */
static float through_attention(const struct sizes *n, const struct saved_parts *parts,
                               const struct scratch_parts *own, float square, float *grad_input,
                               const struct layer_pass *pass) {
    struct scalar_scores scores = {n->steps,          n->stride,       square,
                                   parts->query_part, parts->key_part, parts->offset};
    bool has_offset = n->rows > 1;
    struct scalar_score_gradients gradients = {0, own->grad_query_part,
                                               has_offset ? own->grad_key_part : NULL,
                                               has_offset ? own->grad_offset : NULL};
    memset(own->grad_query_part, 0, n->steps * sizeof(float));
    memset(own->grad_key_part, 0, n->stride * sizeof(float));
    if (has_offset)
        memset(own->grad_offset, 0, n->steps * n->stride * sizeof(float));
    for (size_t i = 0; i < n->count; i++) {
        const float *x = parts->x + i * n->stride, *share = parts->share + i * n->stride;
        if (grad_input != NULL)
            for (size_t j = 0; j < n->stride; j++)
                own->grad_x[j] = share[j] * own->along[i];
        pass->kernels->scalar_attention_backward(&scores, x, parts->weights + i * n->steps * n->stride,
                                                 own->a + i * n->stride, &gradients,
                                                 grad_input == NULL ? NULL : own->grad_x);
        if (grad_input != NULL)
            memcpy(grad_input + i * n->steps, own->grad_x, n->steps * sizeof *grad_input);
    }
    return gradients.square;
}

/* From the parts of the scores to U and P of one side, and on to its weight, its bias, u and p. `own_rows` is
 * the side's P, `other_*` the other side's. */
struct side {
    const float *weight, *other_factor, *other_rows, *grad_part;
    float *grad_rows, *grad_weight, *grad_bias;
    bool is_key;
};

static void through_side(const struct sizes *n, const struct side *side, float grad_square,
                         const struct saved_parts *parts, const struct scratch_parts *own, const float *u,
                         float *grad_u, const struct layer_pass *pass) {
    size_t width = n->width, rows = n->rows;
    float *grad_factor = own->grad_factor;
    for (size_t j = 0; j < width; j++)
        grad_factor[j] = n->scale * grad_square * side->other_factor[j];
    /* grad_part is the gradient of (other factor) . (own rows), and of (own factor) . (other rows) the
     * other's. */
    const float *other_part = side->is_key ? own->grad_query_part : own->grad_key_part;
    matrix_multiply(1, width, rows, n->scale, other_part, rows, side->other_rows, width, 1, grad_factor,
                    width);
    matrix_multiply(rows, width, 1, n->scale, side->grad_part, 1, side->other_factor, width, 0,
                    side->grad_rows, width);
    if (rows > 1 && side->is_key)
        matrix_multiply_transposed_a(rows, width, rows, n->scale, own->grad_offset, n->stride,
                                     side->other_rows, width, 1, side->grad_rows, width);
    else if (rows > 1)
        matrix_multiply(rows, width, rows, n->scale, own->grad_offset, n->stride, side->other_rows, width, 1,
                        side->grad_rows, width);
    linear_backward(side->weight, parts->positions, side->grad_rows, own->grad_positions, true,
                    side->grad_weight, NULL, rows, width, width);
    pass->kernels->add_column_sums(side->grad_rows, rows, width, side->grad_bias);
    linear_backward(side->weight, u, grad_factor, grad_u, true, side->grad_weight, NULL, 1, width, width);
}

/* The gradients of everything but the value projection. */
static void add_parameter_gradients(const struct layer *layer, const struct sizes *n, const float *parameters,
                                    const struct saved_parts *parts, const struct scratch_parts *own,
                                    float grad_square, float *grad_parameters,
                                    const struct layer_pass *pass) {
    struct offsets at = offsets_of(layer);
    float *grad_u = grad_parameters + at.input;
    matrix_multiply_transposed_a(1, n->width, n->count, 1, parts->pooled_x, 1, own->grad_pooled, n->width, 1,
                                 grad_u, n->width);
    if (n->rows > 1) {
        matrix_multiply_transposed_a(n->rows, n->width, n->count, 1, parts->share, n->stride,
                                     own->grad_pooled, n->width, 0, own->grad_positions, n->width);
    } else {
        /* One p for all steps: the shares add up to 1, the gradients of b and d to 0, those of g are summed.
         */
        memset(own->grad_positions, 0, n->width * sizeof(float));
        pass->kernels->add_column_sums(own->grad_pooled, n->count, n->width, own->grad_positions);
        for (size_t i = 1; i < n->steps; i++)
            own->grad_query_part[0] += own->grad_query_part[i];
    }
    struct side query = {parameters + at.query,
                         parts->key_factor,
                         parts->key_rows,
                         own->grad_query_part,
                         own->grad_query_rows,
                         grad_parameters + at.query,
                         grad_parameters + at.query_bias,
                         false};
    struct side key = {parameters + at.key,
                       parts->query_factor,
                       parts->query_rows,
                       own->grad_key_part,
                       own->grad_key_rows,
                       grad_parameters + at.key,
                       grad_parameters + at.key_bias,
                       true};
    through_side(n, &query, grad_square, parts, own, parameters + at.input, grad_u, pass);
    through_side(n, &key, grad_square, parts, own, parameters + at.input, grad_u, pass);
    pass->kernels->add_column_sums(own->grad_positions, n->rows, n->width, grad_parameters + at.input_bias);
    if (layer->options.position == POSITION_LEARNED)
        pass->kernels->add_column_sums(own->grad_positions, 1, n->rows * n->width,
                                       grad_parameters + at.position);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)input;
    (void)output;
    struct sizes n = sizes_of(layer, pass->count);
    struct offsets at = offsets_of(layer);
    struct saved_parts parts = parts_of(saved, &n);
    struct scratch_parts own = scratch_of(pass->scratch, &n);
    float square;
    linear_backward(parameters + at.value, parts.pooled, grad_output, own.grad_pooled, false,
                    grad_parameters == NULL ? NULL : grad_parameters + at.value,
                    grad_parameters == NULL ? NULL : grad_parameters + at.value_bias, n.count, n.width,
                    n.width);
    matrix_multiply(n.count, 1, n.width, 1, own.grad_pooled, n.width, parameters + at.input, 1, 0, own.along,
                    1);
    matrix_multiply(1, 1, n.width, n.scale, parts.query_factor, n.width, parts.key_factor, 1, 0, &square, 1);
    fill_a(&n, &parts, &own, pass);
    float grad_square = through_attention(&n, &parts, &own, square, grad_input, pass);
    if (grad_parameters != NULL)
        add_parameter_gradients(layer, &n, parameters, &parts, &own, grad_square, grad_parameters, pass);
}

/* Rows without the padding of whole vectors. */
static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    struct sizes n = sizes_of(layer, pass->count);
    size_t weights_offset =
        saved_size(layer, pass->count) - n.count * (n.steps * n.stride + n.stride + n.width + 1);
    for (size_t row = 0; row < n.count * n.steps; row++)
        memcpy(weights + row * n.steps, saved + weights_offset + row * n.stride, n.steps * sizeof *weights);
}

const struct layer_type layer_scalar_attention = {
    .name = "attention over single numbers, averaged over its queries",
    .output_shape = output_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
    .attention = attention,
};
