/* The mean over the steps of a sequence without padding.
 *
 * [steps][width] becomes [1][width]. If pass->present is NULL, it is the plain mean; if no step is present,
 * the result is zero. */
#ifndef ATTNLAB_CORE_LAYERS_MASKED_MEAN_H
#define ATTNLAB_CORE_LAYERS_MASKED_MEAN_H

#include "core/layers/layer.h"

extern const struct layer_type layer_masked_mean;

#endif
