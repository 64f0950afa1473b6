/* A walk over scores in tiles: see tiles.h. */
#include "core/layers/attention/tiles.h"

#include "core/layers/attention/mask.h"
#include "core/math/matrix.h"

#include <string.h>

size_t tile_count(size_t steps) {
    return (steps + TILE_KEYS - 1) / TILE_KEYS;
}

void tile_walk_transpose(const struct attention_head *head, const float *matrix, float *transposed) {
    for (size_t t = 0; t < head->steps; t++)
        for (size_t j = 0; j < head->width; j++)
            transposed[(t / TILE_KEYS * head->width + j) * TILE_KEYS + t % TILE_KEYS] =
                matrix[t * head->row + j];
}

struct query_block tile_walk_block(const struct attention_head *head, size_t first, size_t end) {
    size_t queries = end - first < TILE_QUERIES ? end - first : TILE_QUERIES;
    size_t tiles = head->is_causal ? (first + queries - 1) / TILE_KEYS + 1 : tile_count(head->steps);
    return (struct query_block){first, queries, tiles};
}

struct tile tile_walk_score(const struct tile_walk *walk, const struct query_block *block, size_t index,
                            float *values) {
    const struct attention_head *head = walk->head;
    struct tile tile = {values, block->queries, tile_keys(head, index), TILE_KEYS, head->scale};
    matrix_multiply(tile.rows, tile.columns, head->width, 1, head->query + block->first * head->row,
                    head->row, walk->transposed_keys + index * head->width * TILE_KEYS, TILE_KEYS, 0, values,
                    TILE_KEYS);
    struct visible_keys visible = {head->is_causal, walk->present};
    struct score_block scores = {block->first, tile.rows, index * TILE_KEYS, tile.columns};
    visible_keys_hide_others(&visible, &scores, values, TILE_KEYS);
    return tile;
}

void tile_walk_weights(const struct tile_walk *walk, const float *normaliser, size_t first, size_t queries,
                       float *values, float *weights) {
    size_t steps = walk->head->steps, end = first + queries;
    memset(weights, 0, queries * steps * sizeof *weights);
    for (; first < end; first += TILE_QUERIES) {
        struct query_block block = tile_walk_block(walk->head, first, end);
        for (size_t t = 0; t < block.tiles; t++) {
            struct tile tile = tile_walk_score(walk, &block, t, values);
            walk->kernels->tile_weights(&tile, normaliser + first);
            for (size_t i = 0; i < tile.rows; i++)
                memcpy(weights + i * steps + t * TILE_KEYS, values + i * TILE_KEYS,
                       tile.columns * sizeof *weights);
        }
        weights += block.queries * steps;
    }
}
