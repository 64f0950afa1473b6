/* Adds learned positions to every example: output = input + pos[steps][width].
 *
 * The only tensor is `pos` of shape (1, steps, width), drawn from a normal distribution with standard
 * deviation 0.02, as in the chapter's and the lab's classes. */
#ifndef ATTNLAB_CORE_LAYERS_POSITIONS_LEARNED_H
#define ATTNLAB_CORE_LAYERS_POSITIONS_LEARNED_H

#include "core/layers/layer.h"

extern const struct layer_type layer_learned_positions;

/* The same in the lab's class, which draws by nn.init.normal_(pos, std=0.02) and not by randn(...) * 0.02: of
 * fewer than 16 numbers PyTorch draws each in double, and then the two round differently. */
extern const struct layer_type layer_lab_positions;

/* For the lab's class without positions: the tensor exists and is drawn, but it is not added. */
extern const struct layer_type layer_unused_positions;

#endif
