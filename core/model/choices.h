/* What the parameters `model`, `position`, `mask` and `activation` may say, and what that means to a model.
 *
 * Every experiment that declares a mask or an activation takes its choices from here. The names are in the
 * order of the enumerations of core/layers/layer.h; those of positions are position_names. */
#ifndef ATTNLAB_CORE_MODEL_CHOICES_H
#define ATTNLAB_CORE_MODEL_CHOICES_H

#include "core/layers/positions/position.h"
#include "core/parameters/faults.h"
#include "core/parameters/set.h"

/* All models, and those with a known path from an input step to the output (struct model_entry.path). */
extern const struct parameter_choice_table model_choices_models;
extern const struct parameter_choice_table model_choices_models_with_path;

/* Beside a parameter `model`: parameters count for the models that take them (model_takes). */
extern const struct parameter_condition model_choices_taken;

/* NULL-terminated: a declaration's `choices`. */
extern const char *const model_choices_masks[];
extern const char *const model_choices_activations[];

/* The parameter of that name, which must be declared with those choices and be set. */
const struct position *model_choices_position(const struct parameter_set *set);
enum attention_mask model_choices_mask(const struct parameter_set *set);
enum activation model_choices_activation(const struct parameter_set *set);

/* Adds a fault of `position` if attention with heads of this width cannot have it. */
void model_choices_check_position(const struct parameter_set *set, size_t head_width,
                                  struct parameter_faults *faults);

#endif
