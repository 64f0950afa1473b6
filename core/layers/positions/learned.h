/* Positions added to every example: output = input + pos, where pos[steps][width] is learned.
 *
 * One tensor `pos` of shape (1, steps, width), drawn from a normal distribution with deviation 0.02, as in
 * the chapter's and the lab's classes. */
#ifndef ATTNLAB_CORE_LAYERS_POSITIONS_LEARNED_H
#define ATTNLAB_CORE_LAYERS_POSITIONS_LEARNED_H

#include "core/layers/layer.h"

extern const struct layer_type layer_learned_positions;

/* The lab's class when it adds no positions: the tensor is there and is drawn, but not added. */
extern const struct layer_type layer_unused_positions;

#endif
