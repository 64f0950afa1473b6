/* A walk over scores in tiles: see tiles.h. */
#include "core/layers/attention/tiles.h"

#include "core/layers/attention/mask.h"
#include "core/math/matrix.h"

#include <math.h>
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

struct row_softmax row_softmax_from(const struct row_softmax *rows, size_t first) {
    return (struct row_softmax){rows->largest + first, rows->inverse_sums + first};
}

void row_softmax_finish(const struct row_softmax *rows, size_t first, size_t count, const float *largest,
                        const float *sums, size_t blind) {
    for (size_t i = 0; i < count; i++) {
        rows->largest[first + i] = largest[i];
        rows->inverse_sums[first + i] = first + i < blind ? 0 : sums[i] == 0 ? NAN : 1 / sums[i];
    }
}

/* weights[steps] = those of a query before its tiles are written: 0, or NaN with all others. */
static void clear_weights(float *weights, size_t steps, float inverse_sum) {
    for (size_t j = 0; j < steps; j++)
        weights[j] = isnan(inverse_sum) ? NAN : 0;
}

void tile_walk_weights(const struct tile_walk *walk, const struct row_softmax *rows, size_t first,
                       size_t queries, float *values, float *weights) {
    size_t steps = walk->head->steps, end = first + queries;
    for (size_t i = 0; i < queries; i++)
        clear_weights(weights + i * steps, steps, rows->inverse_sums[first + i]);
    for (size_t start = first - first % TILE_QUERIES; start < end; start += TILE_QUERIES) {
        struct query_block block = tile_walk_block(walk->head, start, steps);
        struct row_softmax block_rows = row_softmax_from(rows, start);
        for (size_t t = 0; t < block.tiles; t++) {
            struct tile tile = tile_walk_score(walk, &block, t, values);
            walk->kernels->tile_weights(&tile, &block_rows);
            for (size_t i = start < first ? first : start; i < start + tile.rows && i < end; i++)
                memcpy(weights + (i - first) * steps + t * TILE_KEYS, values + (i - start) * TILE_KEYS,
                       tile.columns * sizeof *weights);
        }
    }
}
