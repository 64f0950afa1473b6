/* Decides which keys a query sees: all but padding and, with the causal mask, keys after the query.
 *
 * The scores of hidden keys become -infinity, so softmax gives them weight 0. All algorithms use these
 * functions, for whole matrices or for parts of one. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_MASK_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_MASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The mask of one example. */
struct visible_keys {
    bool is_causal;
    const uint8_t *present; /* [steps]: 0 at padding; NULL: no padding */
};

/* A rectangle of the matrix of scores. */
struct score_block {
    size_t first_query, queries, first_key, keys;
};

/* Sets the scores of hidden keys to -infinity; the rows of two queries are `stride` floats apart. */
void visible_keys_hide_others(const struct visible_keys *visible, const struct score_block *block,
                              float *scores, size_t stride);

/* Returns the number of queries that see no key; they are the first ones. PyTorch gives them weights that are
 * NaN, the layers here weights of 0. */
size_t visible_keys_count_blind(const struct visible_keys *visible, size_t steps);

/* Returns how many of present[count] are not 0; all if it is NULL. */
size_t count_present(const uint8_t *present, size_t count);

#endif
