/* One head of attention in tiles: see tiled_head.h. */
#include "core/layers/attention/tiled_head.h"

#include "core/layers/attention/tiles.h"
#include "core/math/matrix.h"

#include <math.h>
#include <string.h>

/* Two tiles, one of weights and one of their gradients, and the transposed keys and values. */
size_t tiled_head_scratch_size(size_t steps, size_t width) {
    return 2 * TILE_QUERIES * TILE_KEYS + 2 * tile_count(steps) * width * TILE_KEYS;
}

/* The parts of the scratch. */
static float *score_memory(const struct tiled_head *tiled) {
    return tiled->scratch;
}

static float *gradient_memory(const struct tiled_head *tiled) {
    return tiled->scratch + TILE_QUERIES * TILE_KEYS;
}

/* [tiles][width][TILE_KEYS] */
static float *transposed_keys(const struct tiled_head *tiled) {
    return tiled->scratch + 2 * TILE_QUERIES * TILE_KEYS;
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

/* Computes the context and the normalisers of the queries from `first` on. */
static void attend(const struct tiled_head *tiled, const struct tile_walk *walk, size_t first,
                   float *normaliser, float *context) {
    const struct attention_head *head = tiled->head;
    float largest[TILE_QUERIES], before[TILE_QUERIES], sums[TILE_QUERIES] = {0}, factors[TILE_QUERIES];
    struct query_block block = tile_walk_block(head, first, head->steps);
    for (size_t i = 0; i < TILE_QUERIES; i++)
        largest[i] = -INFINITY;
    for (size_t t = 0; t < block.tiles; t++) {
        struct tile tile = tile_walk_score(walk, &block, t, score_memory(tiled));
        memcpy(before, largest, sizeof before);
        tiled->kernels->tile_softmax(&tile, largest, sums);
        for (size_t i = 0; i < block.queries; i++)
            factors[i] = before[i] == largest[i] ? 1 : expf(before[i] - largest[i]);
        if (t > 0)
            scale_rows(context, head->row, head->width, factors, block.queries);
        matrix_multiply(block.queries, head->width, tile.columns, 1, tile.values, TILE_KEYS,
                        head->value + t * TILE_KEYS * head->row, head->row, t > 0 ? 1 : 0, context,
                        head->row);
    }
    for (size_t i = 0; i < block.queries; i++) {
        normaliser[i] = sums[i] > 0 ? largest[i] + logf(sums[i]) : INFINITY;
        factors[i] = sums[i] > 0 ? 1 / sums[i] : 0;
    }
    scale_rows(context, head->row, head->width, factors, block.queries);
}

void tiled_head_forward(const struct tiled_head *tiled, float *normaliser, float *context) {
    const struct attention_head *head = tiled->head;
    struct tile_walk walk = start_walk(tiled);
    for (size_t first = 0; first < head->steps; first += TILE_QUERIES)
        attend(tiled, &walk, first, normaliser + first, context + first * head->row);
}

/* Adds the part of tile number t to the gradients; means[queries] is D. */
static void add_tile_gradients(const struct tiled_head *tiled, const struct tile_walk *walk,
                               const struct query_block *block, size_t t, const float *normaliser,
                               const float *means, const struct attention_head_gradients *gradients) {
    const struct attention_head *head = tiled->head;
    size_t row = head->row, width = head->width, queries = block->queries, keys = tile_keys(head, t);
    size_t from = block->first * row, to = t * TILE_KEYS * row;
    float *grad_weights = gradient_memory(tiled);
    struct tile tile = tile_walk_score(walk, block, t, score_memory(tiled));
    tiled->kernels->tile_weights(&tile, normaliser + block->first);
    matrix_multiply_transposed_a(keys, width, queries, 1, tile.values, TILE_KEYS, gradients->context + from,
                                 row, 1, gradients->value + to, row);
    matrix_multiply(queries, keys, width, 1, gradients->context + from, row,
                    transposed_values(tiled) + t * width * TILE_KEYS, TILE_KEYS, 0, grad_weights, TILE_KEYS);
    tiled->kernels->tile_backward(&tile, grad_weights, TILE_KEYS, means);
    matrix_multiply(queries, width, keys, 1, tile.values, TILE_KEYS, head->key + to, row, 1,
                    gradients->query + from, row);
    matrix_multiply_transposed_a(keys, width, queries, 1, tile.values, TILE_KEYS, head->query + from, row, 1,
                                 gradients->key + to, row);
}

void tiled_head_backward(const struct tiled_head *tiled, const float *normaliser, const float *context,
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
    for (size_t first = 0; first < head->steps; first += TILE_QUERIES) {
        struct query_block block = tile_walk_block(head, first, head->steps);
        float means[TILE_QUERIES] = {0};
        for (size_t i = 0; i < block.queries; i++)
            for (size_t j = 0; j < head->width; j++) {
                size_t at = (first + i) * head->row + j;
                means[i] += gradients->context[at] * context[at];
            }
        for (size_t t = 0; t < block.tiles; t++)
            add_tile_gradients(tiled, &walk, &block, t, normaliser, means, gradients);
    }
}

void tiled_head_weights(const struct tiled_head *tiled, const float *normaliser, size_t first, size_t queries,
                        float *weights) {
    struct tile_walk walk = start_walk(tiled);
    tile_walk_weights(&walk, normaliser, first, queries, score_memory(tiled), weights);
}
