/* The scores of all pairs of steps: what they are divided by, and their arithmetic as layer_operations counts
 * it. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_PAIRS_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_PAIRS_H

#include "core/layers/layer.h"

/* What q . k is divided by before the softmax: sqrt(head_width), or 1 if the options leave the scores
 * unscaled. */
double attention_score_divisor(const struct layer_options *options, size_t head_width);

/* For struct layer_type: the two products of each pair, and for each head its exponential. */
double attention_pair_operations(const struct layer *layer);

#endif
