/* Names of positions, masks and activations: see model_choices.h. */
#include "core/experiments/model_choices.h"

#include <string.h>

const char *const model_choices_positions[] = {
    [POSITION_LEARNED] = "learned", [POSITION_SINUSOIDAL] = "sinusoidal", [POSITION_NONE] = "none", NULL};
const char *const model_choices_masks[] = {
    [ATTENTION_MASK_NONE] = "none", [ATTENTION_MASK_CAUSAL] = "causal", NULL};
const char *const model_choices_activations[] = {
    [ACTIVATION_RELU] = "relu", [ACTIVATION_GELU] = "gelu", NULL};

/* The place of the parameter's value in `names`; it was checked to be there when it was set. */
static int index_of(const struct parameter_set *set, const char *parameter, const char *const *names) {
    const char *value = parameter_text(set, parameter);
    int index = 0;
    while (names[index + 1] != NULL && strcmp(names[index], value) != 0)
        index++;
    return index;
}

enum position model_choices_position(const struct parameter_set *set) {
    return (enum position)index_of(set, "position", model_choices_positions);
}

enum attention_mask model_choices_mask(const struct parameter_set *set) {
    return (enum attention_mask)index_of(set, "mask", model_choices_masks);
}

enum activation model_choices_activation(const struct parameter_set *set) {
    return (enum activation)index_of(set, "activation", model_choices_activations);
}
