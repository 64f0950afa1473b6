/* The experiments of this folder, one file each. A new one is a declaration here and a line in
 * experiment_table. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_EXPERIMENTS_H
#define ATTNLAB_CORE_EXPERIMENTS_EXPERIMENTS_H

#include "core/experiments/experiment.h"

#endif
