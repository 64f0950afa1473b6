/* Names of positions, masks, norms and activations: see choices.h. */
#include "core/model/choices.h"

#include "core/model/models.h"

#include <string.h>

static const struct model_entry *model_at(size_t index) {
    return index < model_table_count ? &model_table[index] : NULL;
}

static const struct model_entry *model_with_path_at(size_t index) {
    for (size_t i = 0; i < model_table_count; i++)
        if (model_table[i].path != MODEL_PATH_UNMEASURED && index-- == 0)
            return &model_table[i];
    return NULL;
}

static const char *name_of(const struct model_entry *entry) {
    return entry != NULL ? entry->name : NULL;
}

static const char *title_of(const struct model_entry *entry) {
    return entry != NULL ? model_title(entry) : NULL;
}

static const char *model_name(size_t index) {
    return name_of(model_at(index));
}

static const char *model_title_at(size_t index) {
    return title_of(model_at(index));
}

static const char *model_with_path_name(size_t index) {
    return name_of(model_with_path_at(index));
}

static const char *model_with_path_title(size_t index) {
    return title_of(model_with_path_at(index));
}

const struct parameter_choice_table model_choices_models = {model_name, model_title_at};
const struct parameter_choice_table model_choices_models_with_path = {model_with_path_name,
                                                                      model_with_path_title};

static bool is_taken(const char *model, const char *parameter) {
    return model_takes(model_find(model), parameter);
}

const struct parameter_condition model_choices_taken = {"model", &model_choices_models, is_taken};

const char *const model_choices_masks[] = {
    [ATTENTION_MASK_NONE] = "none", [ATTENTION_MASK_CAUSAL] = "causal", NULL};
const char *const model_choices_norms[] = {[BLOCK_NORM_LAST] = "last", [BLOCK_NORM_FIRST] = "first", NULL};
const char *const model_choices_activations[] = {
    [ACTIVATION_RELU] = "relu", [ACTIVATION_GELU] = "gelu", NULL};

/* Returns the index of the parameter's value in `names`; the setter has checked that it is among them. */
static int index_of(const struct parameter_set *set, const char *parameter, const char *const *names) {
    const char *value = parameter_text(set, parameter);
    int index = 0;
    while (names[index + 1] != NULL && strcmp(names[index], value) != 0)
        index++;
    return index;
}

const struct position *model_choices_position(const struct parameter_set *set) {
    return position_find(parameter_text(set, "position"));
}

void model_choices_check_position(const struct parameter_set *set, size_t head_width,
                                  struct parameter_faults *faults) {
    const struct position *position = model_choices_position(set);
    if (!position_fits(position, head_width))
        parameter_faults_add(
            faults, "position",
            "cannot be %s: the width of a head (width / heads) must be a multiple of %zu; got %zu",
            position->name, position->head_width_multiple, head_width);
}

enum attention_mask model_choices_mask(const struct parameter_set *set) {
    return (enum attention_mask)index_of(set, "mask", model_choices_masks);
}

bool model_choices_unscaled_scores(const struct parameter_set *set) {
    return parameter_is_set(set, "scale") && !parameter_boolean(set, "scale");
}

enum block_norm model_choices_norm(const struct parameter_set *set) {
    return parameter_is_set(set, "norm") ? (enum block_norm)index_of(set, "norm", model_choices_norms)
                                         : BLOCK_NORM_LAST;
}

enum activation model_choices_activation(const struct parameter_set *set) {
    return (enum activation)index_of(set, "activation", model_choices_activations);
}
