/* One head of attention in tiles: see tiled_head.h. */
#include "core/layers/attention/tiled_head.h"

#include "core/layers/attention/mask.h"
#include "core/layers/attention/tiles.h"
#include "core/math/matrix.h"

#include <math.h>
#include <string.h>

enum { TILE_SIZE = TILE_QUERIES * TILE_KEYS };

/* A block's tiles of weights and of their gradients, and the transposed keys and values. */
size_t tiled_head_scratch_size(size_t steps, size_t width) {
    return tile_count(steps) * (2 * TILE_SIZE + 2 * width * TILE_KEYS);
}

/* The parts of the scratch: tile number t of a block against all keys, ... */
static float *score_memory(const struct tiled_head *tiled, size_t t) {
    return tiled->scratch + t * TILE_SIZE;
}

static float *gradient_memory(const struct tiled_head *tiled, size_t t) {
    return score_memory(tiled, tile_count(tiled->head->steps) + t);
}

/* ... and [tiles][width][TILE_KEYS]. */
static float *transposed_keys(const struct tiled_head *tiled) {
    return score_memory(tiled, 2 * tile_count(tiled->head->steps));
}

static float *transposed_values(const struct tiled_head *tiled) {
    return transposed_keys(tiled) + tile_count(tiled->head->steps) * tiled->head->width * TILE_KEYS;
}

/* Transposes the head's keys and returns a walk over its scores. */
static struct tile_walk start_walk(const struct tiled_head *tiled) {
    tile_walk_transpose(tiled->head, tiled->head->key, transposed_keys(tiled));
    return (struct tile_walk){tiled->head, tiled->present, transposed_keys(tiled), tiled->kernels};
}

/* Multiplies rows of a strided matrix by factors[count]. */
static void scale_rows(float *rows, size_t row, size_t width, const float *factors, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++)
            rows[i * row + j] *= factors[i];
}

/* Computes the context and the softmax of the queries from `first` on. */
static void attend(const struct tiled_head *tiled, const struct tile_walk *walk, size_t first, size_t blind,
                   const struct row_softmax *rows, float *context) {
    const struct attention_head *head = tiled->head;
    float largest[TILE_QUERIES], before[TILE_QUERIES], sums[TILE_QUERIES] = {0}, factors[TILE_QUERIES];
    struct query_block block = tile_walk_block(head, first, head->steps);
    for (size_t i = 0; i < TILE_QUERIES; i++)
        largest[i] = -INFINITY;
    for (size_t t = 0; t < block.tiles; t++) {
        struct tile tile = tile_walk_score(walk, &block, t, score_memory(tiled, 0));
        memcpy(before, largest, sizeof before);
        tiled->kernels->tile_softmax(&tile, largest, sums);
        for (size_t i = 0; i < block.queries; i++)
            factors[i] = row_softmax_scale_down(before[i], largest[i], head->scale);
        if (t > 0)
            scale_rows(context, head->row, head->width, factors, block.queries);
        matrix_multiply(block.queries, head->width, tile.columns, 1, tile.values, TILE_KEYS,
                        head->value + t * TILE_KEYS * head->row, head->row, t > 0 ? 1 : 0, context,
                        head->row);
    }
    row_softmax_finish(rows, first, block.queries, largest, sums, blind);
    scale_rows(context, head->row, head->width, rows->inverse_sums + first, block.queries);
}

void tiled_head_forward(const struct tiled_head *tiled, const struct row_softmax *rows, float *context) {
    const struct attention_head *head = tiled->head;
    struct visible_keys visible = {head->is_causal, tiled->present};
    size_t blind = visible_keys_count_blind(&visible, head->steps);
    struct tile_walk walk = start_walk(tiled);
    for (size_t first = 0; first < head->steps; first += TILE_QUERIES)
        attend(tiled, &walk, first, blind, rows, context + first * head->row);
}

/* Computes tile number t of a block's weights and of their gradients; adds sum_j w_ij g_ij to means[queries]
 * and its part to the values' gradients. */
static struct tile weigh_tile(const struct tiled_head *tiled, const struct tile_walk *walk,
                              const struct query_block *block, size_t t, const struct row_softmax *rows,
                              float *means, const struct attention_head_gradients *gradients) {
    const struct attention_head *head = tiled->head;
    size_t row = head->row, width = head->width;
    const float *grad_context = gradients->context + block->first * row;
    float *grad_weights = gradient_memory(tiled, t);
    struct tile tile = tile_walk_score(walk, block, t, score_memory(tiled, t));
    matrix_multiply(tile.rows, tile.columns, width, 1, grad_context, row,
                    transposed_values(tiled) + t * width * TILE_KEYS, TILE_KEYS, 0, grad_weights, TILE_KEYS);
    tiled->kernels->tile_weights_and_means(&tile, rows, grad_weights, TILE_KEYS, means);
    matrix_multiply_transposed_a(tile.columns, width, tile.rows, 1, tile.values, TILE_KEYS, grad_context, row,
                                 1, gradients->value + t * TILE_KEYS * row, row);
    return tile;
}

/* Adds a block's part to the gradients of keys and values, and computes those of its queries. */
static void attend_backward(const struct tiled_head *tiled, const struct tile_walk *walk, size_t first,
                            const struct row_softmax *rows,
                            const struct attention_head_gradients *gradients) {
    const struct attention_head *head = tiled->head;
    struct query_block block = tile_walk_block(head, first, head->steps);
    struct row_softmax block_rows = row_softmax_from(rows, first);
    size_t row = head->row, width = head->width, from = first * row;
    float means[TILE_QUERIES] = {0};
    struct tile tile;
    for (size_t t = 0; t < block.tiles; t++)
        tile = weigh_tile(tiled, walk, &block, t, &block_rows, means, gradients);
    for (size_t t = 0; t < block.tiles; t++) {
        size_t to = t * TILE_KEYS * row;
        tile.values = score_memory(tiled, t);
        tile.columns = tile_keys(head, t);
        tiled->kernels->tile_backward(&tile, gradient_memory(tiled, t), TILE_KEYS, means);
        matrix_multiply(tile.rows, width, tile.columns, 1, tile.values, TILE_KEYS, head->key + to, row, 1,
                        gradients->query + from, row);
        matrix_multiply_transposed_a(tile.columns, width, tile.rows, 1, tile.values, TILE_KEYS,
                                     head->query + from, row, 1, gradients->key + to, row);
    }
}

void tiled_head_backward(const struct tiled_head *tiled, const struct row_softmax *rows,
                         const struct attention_head_gradients *gradients) {
    const struct attention_head *head = tiled->head;
    size_t size = head->width * sizeof(float);
    struct tile_walk walk = start_walk(tiled);
    tile_walk_transpose(head, head->value, transposed_values(tiled));
    for (size_t t = 0; t < head->steps; t++) {
        memset(gradients->query + t * head->row, 0, size);
        memset(gradients->key + t * head->row, 0, size);
        memset(gradients->value + t * head->row, 0, size);
    }
    for (size_t first = 0; first < head->steps; first += TILE_QUERIES)
        attend_backward(tiled, &walk, first, rows, gradients);
}

void tiled_head_weights(const struct tiled_head *tiled, const struct row_softmax *rows, size_t first,
                        size_t queries, float *weights) {
    struct tile_walk walk = start_walk(tiled);
    tile_walk_weights(&walk, rows, first, queries, score_memory(tiled, 0), weights);
}
