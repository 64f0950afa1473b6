/* Attention averaged over its queries, computed as textbooks write it down: all of Q, K and V by projections,
 * all scores, softmax, times V, and then the mean. The same without a matrix, in tiles (tiled_head.h).
 *
 * Both have the options and tensors of layer_pooled_attention, without mask and padding, and give its result
 * without its shortcuts. They are for measuring what the formula costs, so they have no backward pass. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_TEXTBOOK_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_TEXTBOOK_H

#include "core/layers/layer.h"

/* A pass holds Q, K, V and the contexts, 4 T W floats an example, and T^2 scores, or 2 T numbers in tiles. */
extern const struct layer_type layer_textbook_attention, layer_textbook_tiled_attention;

#endif
