/* The arithmetic of the scores of all pairs of steps, as layer_operations counts it. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_PAIRS_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_PAIRS_H

#include "core/layers/layer.h"

/* For struct layer_type: the two products of each pair, and for each head its exponential. */
double attention_pair_operations(const struct layer *layer);

#endif
