/* What the parameters `position`, `mask` and `activation` may say, and what that means to a model.
 *
 * Every experiment that declares one of them takes its choices from here; the names stand in the order of the
 * enumerations of core/layers/layer.h. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_MODEL_CHOICES_H
#define ATTNLAB_CORE_EXPERIMENTS_MODEL_CHOICES_H

#include "core/layers/layer.h"
#include "core/parameters/parameter.h"

/* NULL-terminated: a declaration's `choices`. */
extern const char *const model_choices_positions[];
extern const char *const model_choices_masks[];
extern const char *const model_choices_activations[];

/* The parameter of that name, which must be declared with the choices above and be set. */
enum position model_choices_position(const struct parameter_set *set);
enum attention_mask model_choices_mask(const struct parameter_set *set);
enum activation model_choices_activation(const struct parameter_set *set);

#endif
