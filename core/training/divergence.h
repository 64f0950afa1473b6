/* The error of a run whose loss is no longer finite: at which step, what was seen, and what to try.
 *
 * Large from the start: the features are on a large scale. Growing: the steps are too long. Sudden: one step
 * or one example went too far. */
#ifndef ATTNLAB_CORE_TRAINING_DIVERGENCE_H
#define ATTNLAB_CORE_TRAINING_DIVERGENCE_H

#include "core/error.h"
#include "core/tasks/task.h"

struct divergence {
    const char *what; /* "the loss stopped being finite" */
    uint64_t step, epoch;
    double earlier; /* the last epoch's mean loss, in the first epoch the first step's; NAN: there was none */
    double latest;  /* the loss of the step before; NAN: there was none */
    size_t class_count;
    double learning_rate;
    const struct example_set *examples; /* that were trained on */
    size_t sequence_length;
};

/* Sets ERROR_DIVERGED. Returns false. */
bool divergence_set(const struct divergence *divergence, struct error *error);

#endif
