/* Attention by the book: the tests compare every fast algorithm with it, and a newcomer should read it first.
 *
 * It loops over queries and keys as in the formulas (Vaswani et al. 2017, section 3.2), sums in double and
 * keeps every weight. The two layers have the options and tensors of layer_multi_head_attention and
 * layer_pooled_attention; no model uses them. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_REFERENCE_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_REFERENCE_H

#include "core/layers/layer.h"

/* Has an output for every query: [count][T][width] to the same shape. Options: heads, mask, position. */
extern const struct layer_type layer_reference_attention;

/* Averages over the queries, with one head and no output projection: to [count][1][width]. Padding is not a
 * query; if there is nothing but padding, the output is the value's bias. Options: mask, position. */
extern const struct layer_type layer_reference_pooled_attention;

#endif
