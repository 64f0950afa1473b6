/* The experiments of this folder, one file each. A new one needs a declaration here and a line in
 * experiment_table. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_EXPERIMENTS_H
#define ATTNLAB_CORE_EXPERIMENTS_EXPERIMENTS_H

#include "core/experiments/experiment.h"

/* Every JSON reader keeps whole numbers up to 2^53 - 1 exact, so seeds end there. */
#define SEED_MAXIMUM 9007199254740991.0

extern const struct experiment experiment_train;
extern const struct experiment experiment_attention_steps;
extern const struct experiment experiment_running_average;
extern const struct experiment experiment_scaling;
extern const struct experiment experiment_gradient_reach;
extern const struct experiment experiment_permutation;
extern const struct experiment experiment_cost;
extern const struct experiment experiment_transformer_block;
extern const struct experiment experiment_retrieval;

#endif
