/* Which keys a query sees: those that are not padding and, with the causal mask, are not after the query.
 *
 * Scores of hidden keys become -infinity, which softmax makes a weight of 0. Written once for all algorithms,
 * which hide keys in whole matrices or in parts of one. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_MASK_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of one example. */
struct visible_keys {
    bool is_causal;
    const uint8_t *present; /* [steps]: 0 at padding; NULL: no padding */
};

/* A rectangle of the matrix of scores. */
struct score_block {
    size_t first_query, queries, first_key, keys;
};

/* Sets the scores of hidden keys to -infinity; `stride` floats lie between two queries. */
void visible_keys_hide_others(const struct visible_keys *visible, const struct score_block *block,
                              float *scores, size_t stride);

/* How many of present[count] are not 0; all if it is NULL. */
size_t count_present(const uint8_t *present, size_t count);

#endif
