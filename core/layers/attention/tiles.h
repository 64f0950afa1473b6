/* A walk over the scores of one head in tiles, for sequences whose whole matrix would be too large.
 *
 * A block of queries meets the keys of one tile at a time. The keys lie transposed, tile by tile, so that a
 * tile of scores is a small product with both sides in the cache. core/math/tile_kernels.h says what is done
 * to a tile; what is summed up over the tiles is the caller's. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TILES_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TILES_H

#include "core/math/attention_head.h"
#include "core/math/kernels.h"
#include "core/math/tile_kernels.h"

#include <stdint.h>

/* A tile is 23 kB. Its width is no power of two, so that rows do not compete for the same lines of a cache.
 */
enum { TILE_QUERIES = 24, TILE_KEYS = 240 };

struct tile_walk {
    const struct attention_head *head; /* its stride and bias are not used */
    const uint8_t *present;            /* [steps]: keys that are not hidden; NULL: all */
    const float *transposed_keys;      /* from tile_walk_transpose */
    const struct kernels *kernels;
};

/* Tiles for that many keys. */
size_t tile_count(size_t steps);

/* The keys of one tile. */
static inline size_t tile_keys(const struct attention_head *head, size_t tile) {
    size_t left = head->steps - tile * TILE_KEYS;
    return left < TILE_KEYS ? left : TILE_KEYS;
}

/* transposed[tiles][width][TILE_KEYS] from matrix[steps], whose rows lie as the head's. */
void tile_walk_transpose(const struct attention_head *head, const float *matrix, float *transposed);

/* The queries from `first` on, at most TILE_QUERIES and not beyond `end`, and how many tiles of keys there
 * are of which any of them sees a key. */
struct query_block {
    size_t first, queries, tiles;
};
struct query_block tile_walk_block(const struct attention_head *head, size_t first, size_t end);

/* The scores of a block against tile number `index`, in values[TILE_QUERIES][TILE_KEYS]: not yet scaled,
 * those of hidden keys -infinity. */
struct tile tile_walk_score(const struct tile_walk *walk, const struct query_block *block, size_t index,
                            float *values);

/* weights[queries][steps] of the queries from `first` on; normaliser[steps] as in tile_kernels.h. `values` is
 * working memory for a tile. */
void tile_walk_weights(const struct tile_walk *walk, const float *normaliser, size_t first, size_t queries,
                       float *values, float *weights);

#endif
