/* The mean over the steps of a sequence, padding left out.
 *
 * [steps][width] becomes [1][width]. Without pass->present it is the plain mean; where nothing is present the
 * result is zero. */
#ifndef ATTNLAB_CORE_LAYERS_MASKED_MEAN_H
#define ATTNLAB_CORE_LAYERS_MASKED_MEAN_H

#include "core/layers/layer.h"

extern const struct layer_type layer_masked_mean;

#endif
