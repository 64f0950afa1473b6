/* Attention averaged over its queries, in tiles: see tiled.h. */
#include "core/layers/attention/tiled.h"

#include "core/layers/attention/pairs.h"

#include "core/layers/attention/mask.h"
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/tiles.h"
#include "core/layers/linear.h"
#include "core/math/matrix.h"

#include <math.h>
#include <string.h>

/* The values saved from forward to backward. */
struct saved_parts {
    float *query, *key;      /* [count][T][width] */
    struct row_softmax rows; /* [count][T] */
    float *share;            /* [count][T]: m */
    float *pooled_input;     /* [count][width]: sum_j m_j h_j */
    float *rotations;        /* [T][width], if the position rotates */
};

static struct saved_parts parts_of(float *saved, const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width, size = count * steps * width;
    struct saved_parts parts = {.query = saved, .key = saved + size};
    parts.rows = (struct row_softmax){parts.key + size, parts.key + size + count * steps};
    parts.share = parts.rows.inverse_sums + count * steps;
    parts.pooled_input = parts.share + count * steps;
    parts.rotations = parts.pooled_input + count * width;
    return parts;
}

static size_t saved_size(const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width;
    return count * (2 * steps * width + 3 * steps + width) +
           rotation_size(layer->options.position, steps, width);
}

/* Working memory. */
struct work {
    float *keys_transposed;       /* [tiles][width][TILE_KEYS] */
    float *tiles;                 /* [tiles][TILE_QUERIES][TILE_KEYS]: a block of queries against all keys */
    float *largest;               /* [tiles][TILE_QUERIES]: the largest score up to each tile */
    float *a;                     /* [T] */
    float *u;                     /* [count][width] */
    float *grad_query, *grad_key; /* [count][T][width] */
};

static struct work work_of(float *scratch, const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width, tiles = tile_count(steps);
    struct work work = {.keys_transposed = scratch};
    work.tiles = work.keys_transposed + tiles * width * TILE_KEYS;
    work.largest = work.tiles + tiles * TILE_QUERIES * TILE_KEYS;
    work.a = work.largest + tiles * TILE_QUERIES;
    work.u = work.a + steps;
    work.grad_query = work.u + count * width;
    work.grad_key = work.grad_query + count * steps * width;
    return work;
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    size_t steps = layer->input.steps, width = layer->input.width;
    return tile_count(steps) * (width * TILE_KEYS + TILE_QUERIES * TILE_KEYS + TILE_QUERIES) + steps +
           count * width + 2 * count * steps * width;
}

/* One example. */
struct example {
    struct attention_head head;
    struct tile_walk walk;   /* over its scores; the keys must be transposed first */
    float query_share;       /* 1 / its number of real steps; 0 if there are none */
    const float *input;      /* [T][width] */
    struct row_softmax rows; /* its queries' */
    float *share;
};

static void start_example(struct example *example, const struct layer *layer, const struct saved_parts *parts,
                          const struct work *work, const float *input, const struct layer_pass *pass,
                          size_t index) {
    size_t steps = layer->input.steps, width = layer->input.width, first = index * steps;
    const uint8_t *present = pass->present == NULL ? NULL : pass->present + first;
    size_t real = count_present(present, steps);
    *example = (struct example){.head = {.steps = steps,
                                         .width = width,
                                         .row = width,
                                         .scale = 1 / (float)attention_score_divisor(&layer->options, width),
                                         .is_causal = layer->options.mask == ATTENTION_MASK_CAUSAL,
                                         .query = parts->query + first * width,
                                         .key = parts->key + first * width},
                                .query_share = real > 0 ? 1 / (float)real : 0,
                                .input = input + first * width,
                                .rows = row_softmax_from(&parts->rows, first),
                                .share = parts->share + first};
    example->walk = (struct tile_walk){&example->head, present, work->keys_transposed, pass->kernels};
    tile_walk_transpose(&example->head, example->head.key, work->keys_transposed);
}

/* Completes the softmax of a block's rows. Queries that are padding see no key; all others see at least their
 * own. */
static void finish_rows(const struct example *example, const struct query_block *block, const float *largest,
                        const float *sums) {
    row_softmax_finish(&example->rows, block->first, block->queries, largest, sums, 0);
    for (size_t i = block->first; example->walk.present != NULL && i < block->first + block->queries; i++)
        if (example->walk.present[i] == 0)
            example->rows.inverse_sums[i] = 0;
}

/* Finds tile number t of a block. */
static float *tile_memory(const struct work *work, size_t t) {
    return work->tiles + t * TILE_QUERIES * TILE_KEYS;
}

/* Adds a block's part of m to `share`. Each tile was computed with the largest score known by then. */
static void attend_block(const struct example *example, const struct work *work,
                         const struct query_block *block) {
    float largest[TILE_QUERIES], sums[TILE_QUERIES] = {0}, factors[TILE_QUERIES];
    for (size_t i = 0; i < TILE_QUERIES; i++)
        largest[i] = -INFINITY;
    for (size_t t = 0; t < block->tiles; t++) {
        struct tile tile = tile_walk_score(&example->walk, block, t, tile_memory(work, t));
        example->walk.kernels->tile_softmax(&tile, largest, sums);
        memcpy(work->largest + t * TILE_QUERIES, largest, sizeof largest);
    }
    finish_rows(example, block, largest, sums);
    struct row_softmax rows = row_softmax_from(&example->rows, block->first);
    for (size_t t = 0; t < block->tiles; t++) {
        size_t keys = tile_keys(&example->head, t);
        for (size_t i = 0; i < block->queries; i++)
            factors[i] = example->query_share * rows.inverse_sums[i] *
                         row_softmax_scale_down(work->largest[t * TILE_QUERIES + i], rows.largest[i],
                                                example->head.scale);
        matrix_multiply(1, keys, block->queries, 1, factors, TILE_QUERIES, tile_memory(work, t), TILE_KEYS, 1,
                        example->share + t * TILE_KEYS, keys);
    }
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    size_t steps = layer->input.steps, width = layer->input.width, rows = pass->count * steps;
    struct pooled_attention_projections weights = pooled_attention_projections_of(parameters, width);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    struct work work = work_of(pass->scratch, layer, pass->count);
    pooled_attention_project(layer, parameters, input, pass->count, parts.query, parts.key, parts.rotations);
    memset(parts.share, 0, rows * sizeof *parts.share);
    for (size_t i = 0; i < pass->count && !layer_pass_is_stopped(pass); i++) {
        struct example example;
        start_example(&example, layer, &parts, &work, input, pass, i);
        for (size_t first = 0; first < steps; first += TILE_QUERIES) {
            struct query_block block = tile_walk_block(&example.head, first, steps);
            attend_block(&example, &work, &block);
        }
        matrix_multiply(1, width, steps, 1, example.share, steps, example.input, width, 0,
                        parts.pooled_input + i * width, width);
    }
    linear_forward(weights.value, weights.value_bias, parts.pooled_input, output, pass->count, width, width);
}

/* Computes the gradients of a block's queries, and adds its part of the keys' gradients. */
static void attend_block_backward(const struct example *example, const struct work *work,
                                  const struct query_block *block, float *grad_query, float *grad_key) {
    const struct attention_head *head = &example->head;
    size_t width = head->width;
    float means[TILE_QUERIES] = {0};
    struct row_softmax rows = row_softmax_from(&example->rows, block->first);
    struct tile tile;
    for (size_t t = 0; t < block->tiles; t++) {
        tile = tile_walk_score(&example->walk, block, t, tile_memory(work, t));
        example->walk.kernels->tile_weights_and_means(&tile, &rows, work->a + t * TILE_KEYS, 0, means);
    }
    for (size_t t = 0; t < block->tiles; t++) {
        size_t first = t * TILE_KEYS;
        tile.values = tile_memory(work, t);
        tile.columns = tile_keys(head, t);
        example->walk.kernels->tile_backward(&tile, work->a + first, 0, means);
        matrix_multiply(tile.rows, width, tile.columns, 1, tile.values, TILE_KEYS, head->key + first * width,
                        width, t > 0 ? 1 : 0, grad_query + block->first * width, width);
        matrix_multiply_transposed_a(tile.columns, width, tile.rows, 1, tile.values, TILE_KEYS,
                                     head->query + block->first * width, width, 1, grad_key + first * width,
                                     width);
    }
}

/* Computes the gradients of one example's queries and keys, and the mean's part of its input's, m_j u. */
static void attend_backward(const struct example *example, const struct work *work, const float *u,
                            float *grad_query, float *grad_key, float *grad_input) {
    size_t steps = example->head.steps, width = example->head.width;
    matrix_multiply(steps, 1, width, example->query_share, example->input, width, u, 1, 0, work->a, 1);
    memset(grad_key, 0, steps * width * sizeof *grad_key);
    for (size_t first = 0; first < steps; first += TILE_QUERIES) {
        struct query_block block = tile_walk_block(&example->head, first, steps);
        attend_block_backward(example, work, &block, grad_query, grad_key);
    }
    if (grad_input != NULL)
        matrix_multiply(steps, width, 1, 1, example->share, 1, u, width, 0, grad_input, width);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    size_t steps = layer->input.steps, width = layer->input.width;
    struct pooled_attention_projections weights = pooled_attention_projections_of(parameters, width);
    struct pooled_attention_gradients own = pooled_attention_gradients_of(grad_parameters, width);
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    struct work work = work_of(pass->scratch, layer, pass->count);
    linear_backward(weights.value, parts.pooled_input, grad_output, work.u, false, own.value, own.value_bias,
                    pass->count, width, width);
    for (size_t i = 0; i < pass->count && !layer_pass_is_stopped(pass); i++) {
        struct example example;
        start_example(&example, layer, &parts, &work, input, pass, i);
        size_t at = i * steps * width;
        attend_backward(&example, &work, work.u + i * width, work.grad_query + at, work.grad_key + at,
                        grad_input == NULL ? NULL : grad_input + at);
    }
    pooled_attention_project_backward(layer, parameters, input, pass->count, parts.rotations, work.grad_query,
                                      work.grad_key, grad_input, grad_parameters);
}

/* Computes the weights of some queries, one block at a time, from the rows that forward saved. */
static void attention_rows(const struct layer *layer, const float *parameters, const float *input,
                           float *saved, size_t first, size_t queries, float *weights,
                           const struct layer_pass *pass) {
    (void)parameters;
    size_t steps = layer->input.steps;
    struct saved_parts parts = parts_of(saved, layer, pass->count);
    struct work work = work_of(pass->scratch, layer, pass->count);
    for (size_t i = 0; i < pass->count; i++) {
        struct example example;
        start_example(&example, layer, &parts, &work, input, pass, i);
        tile_walk_weights(&example.walk, &example.rows, first, queries, work.tiles,
                          weights + i * queries * steps);
    }
}

const struct layer_type layer_tiled_attention = {
    .name = "attention, averaged over its queries, in tiles",
    .output_shape = pooled_attention_output_shape,
    .describe = pooled_attention_describe,
    .initialise = pooled_attention_initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention_rows = attention_rows,
};
