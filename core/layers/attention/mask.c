/* Decides which keys a query sees: see mask.h. */
#include "core/layers/attention/mask.h"

#include <math.h>

void visible_keys_hide_others(const struct visible_keys *visible, const struct score_block *block,
                              float *scores, size_t stride) {
    for (size_t i = 0; visible->is_causal && i < block->queries; i++) {
        size_t later = block->first_query + i + 1; /* the first key after the query */
        for (size_t j = later > block->first_key ? later - block->first_key : 0; j < block->keys; j++)
            scores[i * stride + j] = -INFINITY;
    }
    for (size_t i = 0; visible->present != NULL && i < block->queries; i++)
        for (size_t j = 0; j < block->keys; j++)
            if (visible->present[block->first_key + j] == 0)
                scores[i * stride + j] = -INFINITY;
}

size_t visible_keys_count_blind(const struct visible_keys *visible, size_t steps) {
    size_t first = 0;
    while (visible->present != NULL && first < steps && visible->present[first] == 0)
        first++;
    return visible->is_causal || first == steps ? first : 0;
}

size_t count_present(const uint8_t *present, size_t count) {
    size_t sum = 0;
    for (size_t t = 0; t < count; t++)
        sum += present == NULL || present[t] != 0;
    return sum;
}
