/* The optimisers of PyTorch 1.13, in optimizer_table: the formulas of torch.optim's Adam, AdamW, SGD and
 * RMSprop with their defaults (betas 0.9 and 0.999, alpha 0.99, eps 1e-8, neither dampening nor Nesterov's
 * momentum).
 *
 * The factors of a step are computed in double and rounded to float once, as PyTorch does; the steps
 * themselves are kernels (core/math/parameter_kernels.h). */
#ifndef ATTNLAB_CORE_MODEL_OPTIMIZERS_H
#define ATTNLAB_CORE_MODEL_OPTIMIZERS_H

#include "core/math/kernels.h"

struct optimizer_settings {
    enum optimizer_kind kind;
    double learning_rate;
    double momentum;     /* of optimisers that take one; else 0 */
    double weight_decay; /* adds this times the parameter to its gradient; AdamW: shrinks the parameter */
};

/* What is known of each kind. */
struct optimizer_entry {
    bool takes_momentum;
    struct step_factors (*factors_at)(const struct optimizer_settings *settings, size_t step);
};
extern const struct optimizer_entry optimizer_table[OPTIMIZER_COUNT];

/* Their names in the order of the table, NULL-terminated: a declaration's `choices`. */
extern const char *const optimizer_names[];

/* Returns OPTIMIZER_ADAM for a name that is not in the table. */
enum optimizer_kind optimizer_find(const char *name);

/* Returns the factors for step number `step`, counted from 1. */
struct step_factors optimizer_factors_at(const struct optimizer_settings *settings, size_t step);

#endif
