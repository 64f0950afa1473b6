/* The choices of the parameters `model`, `position`, `mask`, `norm` and `activation`, and their meaning for a
 * model.
 *
 * Every experiment that declares a mask, a norm or an activation takes its choices from here. The names are
 * in the order of the enumerations in core/layers/layer.h; for positions they are position_names. */
#ifndef ATTNLAB_CORE_MODEL_CHOICES_H
#define ATTNLAB_CORE_MODEL_CHOICES_H

#include "core/layers/positions/position.h"
#include "core/parameters/faults.h"
#include "core/parameters/set.h"

/* All models, and the models with a known path from an input step to the output (model_entry.path). */
extern const struct parameter_choice_table model_choices_models;
extern const struct parameter_choice_table model_choices_models_with_path;

/* For experiments with a parameter `model`: a parameter applies to the models that take it (model_takes). */
extern const struct parameter_condition model_choices_taken;

/* NULL-terminated: a declaration's `choices`. */
extern const char *const model_choices_masks[];
extern const char *const model_choices_norms[];
extern const char *const model_choices_activations[];

/* Return the value of the parameter of that name, which must be declared with those choices and be set. */
const struct position *model_choices_position(const struct parameter_set *set);
enum attention_mask model_choices_mask(const struct parameter_set *set);
/* Whether `scale` is false. A run stored by a version without it, and an experiment that does not declare it,
 * scales. */
bool model_choices_unscaled_scores(const struct parameter_set *set);
/* A run stored by a version without the parameter `norm` normalises last. */
enum block_norm model_choices_norm(const struct parameter_set *set);
enum activation model_choices_activation(const struct parameter_set *set);

/* Adds a fault to `position` if attention with heads of this width does not support it. */
void model_choices_check_position(const struct parameter_set *set, size_t head_width,
                                  struct parameter_faults *faults);

#endif
