/* A walk over the scores of one head in tiles, for sequences whose whole matrix would be too large.
 *
 * A block of queries is multiplied with the keys of one tile at a time. The keys are stored transposed, tile
 * by tile, so that a tile of scores is a small product whose factors are both in the cache.
 * core/math/tile_kernels.h has the operations on a tile; the caller accumulates over the tiles. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILES_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILES_H

#include "core/math/attention_head.h"
#include "core/math/kernels.h"
#include "core/math/tile_kernels.h"

#include <stdint.h>

/* A tile is 23 kB. Its width is not a power of two, so that rows do not compete for the same cache lines. */
enum { TILE_QUERIES = 24, TILE_KEYS = 240 };

struct tile_walk {
    const struct attention_head *head; /* its stride and limits have no effect */
    const uint8_t *present;            /* [steps]: keys that are not hidden; NULL: all */
    const float *transposed_keys;      /* from tile_walk_transpose */
    const struct kernels *kernels;
};

/* The number of tiles for that many keys. */
size_t tile_count(size_t steps);

/* The keys of one tile. */
static inline size_t tile_keys(const struct attention_head *head, size_t tile) {
    size_t left = head->steps - tile * TILE_KEYS;
    return left < TILE_KEYS ? left : TILE_KEYS;
}

/* Fills transposed[tiles][width][TILE_KEYS] from matrix[steps], whose rows are laid out like the head's. */
void tile_walk_transpose(const struct attention_head *head, const float *matrix, float *transposed);

/* The queries from `first` on, at most TILE_QUERIES and not beyond `end`, and the number of tiles in which
 * any of them may see a key. */
struct query_block {
    size_t first, queries, tiles;
};
struct query_block tile_walk_block(const struct attention_head *head, size_t first, size_t end);

/* Writes the scores of a block for tile number `index` to values[TILE_QUERIES][TILE_KEYS]. They are not yet
 * scaled; those of hidden keys are -infinity. */
struct tile tile_walk_score(const struct tile_walk *walk, const struct query_block *block, size_t index,
                            float *values);

/* The softmax of the rows from `first` on. */
struct row_softmax row_softmax_from(const struct row_softmax *rows, size_t first);

/* Completes the softmax of `count` rows, the first of which is query number `first`, from the largest scores
 * and sums that tile_softmax left: a query that sees no key has weights of 0, and one all of whose scores are
 * -INFINITY nevertheless has weights that are NaN. `blind` is the number of queries, the first ones, that see
 * no key. */
void row_softmax_finish(const struct row_softmax *rows, size_t first, size_t count, const float *largest,
                        const float *sums, size_t blind);

/* Writes weights[queries][steps] for the queries from `first` on; `rows` are all queries'. The blocks are
 * those of a walk from the first query on, because a product's shape can show in its bits. `values` is
 * working memory for one tile. */
void tile_walk_weights(const struct tile_walk *walk, const struct row_softmax *rows, size_t first,
                       size_t queries, float *values, float *weights);

#endif
