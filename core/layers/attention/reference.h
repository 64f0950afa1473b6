/* Attention by the book: what every fast way is tested against, and what a newcomer reads first.
 *
 * Loops over queries and keys as in the formulas (Vaswani et al. 2017, section 3.2), every sum in double,
 * every weight kept. Two layers with the options and tensors of layer_multi_head_attention and
 * layer_pooled_attention; no model takes them. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_REFERENCE_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_REFERENCE_H

#include "core/layers/layer.h"

/* An output for every query: [count][T][width] to the same. Options: heads, mask, position. */
extern const struct layer_type layer_reference_attention;

/* The mean over the queries, of one head and without an output projection: to [count][1][width]. Steps that
 * are padding ask nothing; of nothing but padding comes the value's bias. Options: mask, position. */
extern const struct layer_type layer_reference_pooled_attention;

#endif
