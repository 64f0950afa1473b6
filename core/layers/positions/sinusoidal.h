/* Adds fixed positions to every step: sines and cosines of growing wavelengths (Vaswani et al. 2017, 3.5).
 *
 * position[t][2i] = sin(t / 10000^(2i/width)), position[t][2i + 1] = cos of the same. The layer has no
 * parameters. */
#ifndef ATTNLAB_CORE_LAYERS_POSITIONS_SINUSOIDAL_H
#define ATTNLAB_CORE_LAYERS_POSITIONS_SINUSOIDAL_H

#include "core/layers/layer.h"

extern const struct layer_type layer_sinusoidal_positions;

#endif
