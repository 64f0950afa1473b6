/* The table of optimisers: see optimizers.h. */
#include "core/model/optimizers.h"

#include <math.h>
#include <string.h>

static const double epsilon = 1e-8;

static struct step_factors adam_factors_at(const struct optimizer_settings *settings, size_t step) {
    const double first = 0.9, second = 0.999;
    return (struct step_factors){
        .first_decay = (float)first,
        .second_decay = (float)second,
        .first_share = (float)(1 - first),
        .second_share = (float)(1 - second),
        .step_size = (float)(settings->learning_rate / (1 - pow(first, (double)step))),
        .second_correction = (float)sqrt(1 - pow(second, (double)step)),
        .epsilon = (float)epsilon,
        .weight_decay = (float)settings->weight_decay,
    };
}

static struct step_factors adamw_factors_at(const struct optimizer_settings *settings, size_t step) {
    struct step_factors factors = adam_factors_at(settings, step);
    factors.weight_decay = 0;
    factors.shrinkage = (float)(1 - settings->learning_rate * settings->weight_decay);
    return factors;
}

static struct step_factors sgd_factors_at(const struct optimizer_settings *settings, size_t step) {
    return (struct step_factors){
        .is_first = step == 1,
        .first_decay = (float)settings->momentum,
        .step_size = (float)settings->learning_rate,
        .weight_decay = (float)settings->weight_decay,
    };
}

static struct step_factors rmsprop_factors_at(const struct optimizer_settings *settings, size_t step) {
    const double alpha = 0.99;
    (void)step;
    return (struct step_factors){
        .first_decay = (float)settings->momentum,
        .second_decay = (float)alpha,
        .second_share = (float)(1 - alpha),
        .step_size = (float)settings->learning_rate,
        .epsilon = (float)epsilon,
        .weight_decay = (float)settings->weight_decay,
    };
}

const struct optimizer_entry optimizer_table[OPTIMIZER_COUNT] = {
    [OPTIMIZER_ADAM] = {false, adam_factors_at},
    [OPTIMIZER_ADAMW] = {false, adamw_factors_at},
    [OPTIMIZER_SGD] = {true, sgd_factors_at},
    [OPTIMIZER_RMSPROP] = {true, rmsprop_factors_at},
};

const char *const optimizer_names[] = {[OPTIMIZER_ADAM] = "adam",
                                       [OPTIMIZER_ADAMW] = "adamw",
                                       [OPTIMIZER_SGD] = "sgd",
                                       [OPTIMIZER_RMSPROP] = "rmsprop",
                                       [OPTIMIZER_COUNT] = NULL};

enum optimizer_kind optimizer_find(const char *name) {
    for (int kind = 0; kind < OPTIMIZER_COUNT; kind++)
        if (strcmp(optimizer_names[kind], name) == 0)
            return (enum optimizer_kind)kind;
    return OPTIMIZER_ADAM;
}

struct step_factors optimizer_factors_at(const struct optimizer_settings *settings, size_t step) {
    return optimizer_table[settings->kind].factors_at(settings, step);
}
