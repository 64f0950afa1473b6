/* One head of attention in tiles: see tiled_head.h. */
#include "core/layers/attention/tiled_head.h"

#include "core/math/matrix.h"
#include "core/math/tile_kernels.h"

#include <math.h>
#include <string.h>

/* As in tiled.c; two tiles of 23 kB, of weights and of their gradients. */
enum { QUERIES = 24, KEYS = 240 };

static size_t tile_count(size_t steps) {
    return (steps + KEYS - 1) / KEYS;
}

size_t tiled_head_scratch_size(size_t steps, size_t width) {
    return 2 * QUERIES * KEYS + 2 * tile_count(steps) * width * KEYS;
}

/* The parts of the scratch memory. */
static float *score_memory(const struct tiled_head *tiled) {
    return tiled->scratch;
}

static float *gradient_memory(const struct tiled_head *tiled) {
    return tiled->scratch + QUERIES * KEYS;
}

/* [tiles][width][KEYS] */
static float *transposed_keys(const struct tiled_head *tiled) {
    return tiled->scratch + 2 * QUERIES * KEYS;
}

static float *transposed_values(const struct tiled_head *tiled) {
    return transposed_keys(tiled) + tile_count(tiled->head->steps) * tiled->head->width * KEYS;
}

static void transpose(const struct attention_head *head, const float *matrix, float *transposed) {
    for (size_t t = 0; t < head->steps; t++)
        for (size_t j = 0; j < head->width; j++)
            transposed[(t / KEYS * head->width + j) * KEYS + t % KEYS] = matrix[t * head->row + j];
}

/* Some queries against the keys of one tile. */
struct block {
    size_t first, queries, first_key, keys;
};

/* The tiles of keys that a block of queries from `first` on sees any of. */
static size_t tiles_of(const struct attention_head *head, size_t first, size_t queries) {
    return head->is_causal ? (first + queries - 1) / KEYS + 1 : tile_count(head->steps);
}

static struct block block_at(const struct attention_head *head, size_t first, size_t end, size_t tile) {
    size_t left = head->steps - tile * KEYS;
    return (struct block){first, end - first < QUERIES ? end - first : QUERIES, tile * KEYS,
                          left < KEYS ? left : KEYS};
}

static void hide_keys(const struct tiled_head *tiled, const struct block *block, float *scores) {
    for (size_t i = 0; i < block->queries; i++)
        for (size_t j = 0; j < block->keys; j++) {
            size_t key = block->first_key + j;
            if ((tiled->head->is_causal && key > block->first + i) ||
                (tiled->present != NULL && tiled->present[key] == 0))
                scores[i * KEYS + j] = -INFINITY;
        }
}

/* The block's scores, before they are scaled. */
static struct tile score_tile(const struct tiled_head *tiled, const struct block *block) {
    const struct attention_head *head = tiled->head;
    struct tile tile = {score_memory(tiled), block->queries, block->keys, KEYS, head->scale};
    matrix_multiply(block->queries, block->keys, head->width, 1, head->query + block->first * head->row,
                    head->row, transposed_keys(tiled) + block->first_key * head->width, KEYS, 0, tile.values,
                    KEYS);
    bool crosses_diagonal = head->is_causal && block->first_key + block->keys > block->first;
    if (crosses_diagonal || tiled->present != NULL)
        hide_keys(tiled, block, tile.values);
    return tile;
}

/* Multiplies rows of a strided matrix by factors[count]. */
static void scale_rows(float *rows, size_t row, size_t width, const float *factors, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++)
            rows[i * row + j] *= factors[i];
}

/* The context and the normalisers of the queries from `first` on. */
static void attend(const struct tiled_head *tiled, size_t first, float *normaliser, float *context) {
    const struct attention_head *head = tiled->head;
    float largest[QUERIES], before[QUERIES], sums[QUERIES] = {0}, factors[QUERIES];
    struct block block = block_at(head, first, head->steps, 0);
    for (size_t i = 0; i < QUERIES; i++)
        largest[i] = -INFINITY;
    for (size_t t = 0; t < tiles_of(head, first, block.queries); t++) {
        block = block_at(head, first, head->steps, t);
        struct tile tile = score_tile(tiled, &block);
        memcpy(before, largest, sizeof before);
        tiled->kernels->tile_softmax(&tile, largest, sums);
        for (size_t i = 0; i < block.queries; i++)
            factors[i] = before[i] == largest[i] ? 1 : expf(before[i] - largest[i]);
        if (t > 0)
            scale_rows(context, head->row, head->width, factors, block.queries);
        matrix_multiply(block.queries, head->width, block.keys, 1, tile.values, KEYS,
                        head->value + block.first_key * head->row, head->row, t > 0 ? 1 : 0, context,
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
    transpose(head, head->key, transposed_keys(tiled));
    for (size_t first = 0; first < head->steps; first += QUERIES)
        attend(tiled, first, normaliser + first, context + first * head->row);
}

/* What one tile adds to the gradients; means[queries] is D. */
static void add_tile_gradients(const struct tiled_head *tiled, const struct block *block,
                               const float *normaliser, const float *means,
                               const struct attention_head_gradients *gradients) {
    const struct attention_head *head = tiled->head;
    size_t row = head->row, width = head->width, queries = block->queries, keys = block->keys;
    size_t from = block->first * row, to = block->first_key * row;
    float *grad_weights = gradient_memory(tiled);
    struct tile tile = score_tile(tiled, block);
    tiled->kernels->tile_weights(&tile, normaliser + block->first);
    matrix_multiply_transposed_a(keys, width, queries, 1, tile.values, KEYS, gradients->context + from, row,
                                 1, gradients->value + to, row);
    matrix_multiply(queries, keys, width, 1, gradients->context + from, row,
                    transposed_values(tiled) + block->first_key * width, KEYS, 0, grad_weights, KEYS);
    tiled->kernels->tile_backward(&tile, grad_weights, KEYS, means);
    matrix_multiply(queries, width, keys, 1, tile.values, KEYS, head->key + to, row, 1,
                    gradients->query + from, row);
    matrix_multiply_transposed_a(keys, width, queries, 1, tile.values, KEYS, head->query + from, row, 1,
                                 gradients->key + to, row);
}

void tiled_head_backward(const struct tiled_head *tiled, const float *normaliser, const float *context,
                         const struct attention_head_gradients *gradients) {
    const struct attention_head *head = tiled->head;
    size_t size = head->width * sizeof(float);
    transpose(head, head->key, transposed_keys(tiled));
    transpose(head, head->value, transposed_values(tiled));
    for (size_t t = 0; t < head->steps; t++) {
        memset(gradients->query + t * head->row, 0, size);
        memset(gradients->key + t * head->row, 0, size);
        memset(gradients->value + t * head->row, 0, size);
    }
    for (size_t first = 0; first < head->steps; first += QUERIES) {
        struct block block = block_at(head, first, head->steps, 0);
        float means[QUERIES] = {0};
        for (size_t i = 0; i < block.queries; i++)
            for (size_t j = 0; j < head->width; j++) {
                size_t at = (first + i) * head->row + j;
                means[i] += gradients->context[at] * context[at];
            }
        for (size_t t = 0; t < tiles_of(head, first, block.queries); t++) {
            block = block_at(head, first, head->steps, t);
            add_tile_gradients(tiled, &block, normaliser, means, gradients);
        }
    }
}

void tiled_head_weights(const struct tiled_head *tiled, const float *normaliser, size_t first, size_t queries,
                        float *weights) {
    const struct attention_head *head = tiled->head;
    size_t end = first + queries;
    transpose(head, head->key, transposed_keys(tiled));
    memset(weights, 0, queries * head->steps * sizeof *weights);
    for (; first < end; first += QUERIES) {
        struct block block = block_at(head, first, end, 0);
        for (size_t t = 0; t < tiles_of(head, first, block.queries); t++) {
            block = block_at(head, first, end, t);
            struct tile tile = score_tile(tiled, &block);
            tiled->kernels->tile_weights(&tile, normaliser + first);
            for (size_t i = 0; i < block.queries; i++)
                memcpy(weights + i * head->steps + block.first_key, tile.values + i * KEYS,
                       block.keys * sizeof *weights);
        }
        weights += block.queries * head->steps;
    }
}
