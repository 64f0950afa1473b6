/* Which keys a query sees: see mask.h. */
#include "core/layers/attention/mask.h"

#include <math.h>

void visible_keys_hide_others(const struct visible_keys *visible, const struct score_block *block,
                              float *scores, size_t stride) {
    size_t end = block->first_key + block->keys;
    bool reaches_later_keys = visible->is_causal && end > block->first_query + 1;
    if (!reaches_later_keys && visible->present == NULL)
        return;
    for (size_t i = 0; i < block->queries; i++)
        for (size_t j = 0; j < block->keys; j++) {
            size_t key = block->first_key + j;
            if ((visible->is_causal && key > block->first_query + i) ||
                (visible->present != NULL && visible->present[key] == 0))
                scores[i * stride + j] = -INFINITY;
        }
}

size_t count_present(const uint8_t *present, size_t count) {
    size_t sum = 0;
    for (size_t t = 0; t < count; t++)
        sum += present == NULL || present[t] != 0;
    return sum;
}
