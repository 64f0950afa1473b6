/* Adam (Kingma and Ba 2015), like torch.optim.Adam with betas 0.9 and 0.999, eps 1e-8 and no weight decay.
 *
 *   m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
 *   p = p - lr / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + eps)
 *
 * The factors are computed in double and rounded to float once, as PyTorch does. */
#ifndef ATTNLAB_CORE_MODEL_ADAM_H
#define ATTNLAB_CORE_MODEL_ADAM_H

#include "core/math/kernels.h"

/* Returns the factors for step number `step`, counted from 1. */
struct adam_factors adam_factors_at(size_t step, double learning_rate);

#endif
