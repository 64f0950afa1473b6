/* The table of all experiments, and the steps common to all: completing the parameters, progress and
 * cancellation. */
#include "core/experiments/experiments.h"
#include "core/parameters/parse.h"

#include <string.h>

const struct experiment *const experiment_table[] = {
    &experiment_train,
    &experiment_attention_steps,
    &experiment_running_average,
    &experiment_scaling,
    &experiment_gradient_reach,
    &experiment_permutation,
    &experiment_cost,
    &experiment_transformer_block,
    &experiment_retrieval,
    NULL,
};

const struct experiment *experiment_find(const char *name) {
    for (size_t i = 0; experiment_table[i] != NULL; i++)
        if (strcmp(experiment_table[i]->name, name) == 0)
            return experiment_table[i];
    return NULL;
}

static const struct parameter_declaration *find_declaration(const struct experiment *experiment,
                                                            const char *name) {
    for (size_t i = 0; i < experiment->parameter_count; i++)
        if (strcmp(experiment->parameters[i].name, name) == 0)
            return &experiment->parameters[i];
    return NULL;
}

const char *experiment_variant_label(const struct experiment *experiment,
                                     const struct experiment_variant *variant) {
    if (variant->label != NULL)
        return variant->label;
    const struct experiment_setting *setting = &variant->settings[0];
    const struct parameter_declaration *declaration = find_declaration(experiment, setting->parameter);
    const char *choice;
    for (size_t i = 0; declaration != NULL && (choice = parameter_choice(declaration, i)) != NULL; i++)
        if (strcmp(choice, setting->value) == 0)
            return parameter_choice_title(declaration, i);
    return setting->value;
}

static double measure_memory(const void *owner, const struct run_cost *cost) {
    (void)owner;
    return cost->memory_bytes;
}

static void check_memory(const struct experiment *experiment, const struct parameter_set *set,
                         const struct data_source *data, unsigned long long limit_bytes,
                         struct parameter_faults *faults) {
    const struct cost_limit limit = {.measure = measure_memory,
                                     .most = (double)limit_bytes,
                                     .scale = 1e6,
                                     .verb = "take",
                                     .unit = "MB of memory",
                                     .whom = ""};
    experiment_check_cost(experiment, set, data, &limit, faults);
}

bool experiment_prepare(const struct experiment *experiment, struct parameter_set *set,
                        const struct data_source *data, unsigned long long memory_limit_bytes,
                        struct parameter_faults *faults, struct error *error) {
    /* A value that a fault left unset gets its default like any other, so that the remaining checks have
     * something to look at and all faults come out at once. */
    if (!parameter_set_apply_defaults(set, error))
        return false;
    if (experiment->complete != NULL && !experiment->complete(set, data, memory_limit_bytes, faults, error))
        return false;
    if (experiment->validate != NULL)
        experiment->validate(set, data, faults);
    if (experiment->estimate == NULL)
        return error_set(error, ERROR_INTERNAL, "the experiment %s declares no cost", experiment->name);
    if (faults->count == 0)
        check_memory(experiment, set, data, memory_limit_bytes, faults);
    if (faults->out_of_memory)
        return error_set_memory(error, sizeof *faults->items);
    return true;
}

bool experiment_is_cancelled(const struct experiment_context *context) {
    return stop_is_requested(&context->host.stop);
}

bool experiment_check_cancelled(const struct experiment_context *context, struct error *error) {
    return run_host_check_cancelled(&context->host, error);
}

double experiment_seconds_now(const struct experiment_context *context) {
    return run_host_seconds_now(&context->host);
}

void experiment_report_progress(const struct experiment_context *context, size_t done, size_t total,
                                const char *unit) {
    run_host_report_progress(&context->host, done, total, unit);
}
