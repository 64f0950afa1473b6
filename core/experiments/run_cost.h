/* What a run takes, known before it starts.
 *
 * Every experiment declares it (struct experiment's `estimate`) as a function of all parameters, so that a
 * limit on it holds whatever parameter somebody makes large. Memory and stored bytes are upper bounds; the
 * work is an estimate, and becomes seconds at the speed that was measured on this machine (run_speed.h). */
#ifndef ATTNLAB_CORE_EXPERIMENTS_RUN_COST_H
#define ATTNLAB_CORE_EXPERIMENTS_RUN_COST_H

#include "core/parameters/set.h"

#include <stdbool.h>

/* Kinds of work, each with a speed of its own. */
enum work_kind {
    WORK_ARITHMETIC, /* operations, as layer_operations counts them */
    WORK_DRAWS,      /* normal random numbers */
    WORK_NUMBERS,    /* numbers written into a result */
    WORK_BYTES,      /* of memory, used for the first time */
    WORK_KIND_COUNT
};

/* Doubles, because absurd parameters must give absurd sums, not overflows. */
struct run_cost {
    double work[WORK_KIND_COUNT];
    double memory_bytes; /* at most, while the run is at work, beyond those of a service at rest */
    double result_bytes; /* of the result as JSON, at most */
    double snapshots;    /* how often the weights are stored: before training and after each epoch */
    double weight_bytes; /* of one snapshot */
    bool is_unknown;     /* it cannot be found out now, for lack of memory */
};
/* Adds a result of so many numbers, in JSON: the work of writing it, its bytes, and the memory of its copies
 * until it is stored. */
void run_cost_add_result(struct run_cost *cost, double numbers);
/* Adds memory: the bytes, and the work of using them for the first time. */
void run_cost_add_memory(struct run_cost *cost, double bytes);

#endif
