/* Lists the experiments, each with the schema of its parameters, and the states of a run. */
#include "core/experiments/experiment.h"
#include "server/api/api.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <string.h>

static void write_setting(struct text *text, const struct experiment *experiment,
                          const struct experiment_setting *setting) {
    for (size_t i = 0; i < experiment->parameter_count; i++)
        if (strcmp(experiment->parameters[i].name, setting->parameter) == 0)
            json_write_parameter_value(text, &experiment->parameters[i], setting->value);
}

/* The rows of the page's comparison, in the form that POST /api/comparisons accepts. Each has an id for use
 * in the page's address. */
static void write_variants(struct text *text, const struct experiment *experiment) {
    json_write_begin_array(text, "variants");
    for (size_t i = 0; i < experiment->variant_count; i++) {
        const struct experiment_variant *variant = &experiment->variants[i];
        json_write_begin_object(text, NULL);
        json_write_string(text, "id", variant->id);
        json_write_string(text, "label", experiment_variant_label(experiment, variant));
        json_write_begin_object(text, "parameters");
        for (size_t j = 0; j < EXPERIMENT_VARIANT_SETTINGS && variant->settings[j].parameter; j++)
            write_setting(text, experiment, &variant->settings[j]);
        json_write_end_object(text);
        json_write_boolean(text, "extra", variant->is_extra);
        json_write_end_object(text);
    }
    json_write_end_array(text);
}

static void write_run_states(struct text *text) {
    json_write_begin_array(text, "run_states");
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++) {
        json_write_begin_object(text, NULL);
        json_write_string(text, "name", run_state_name(state));
        json_write_boolean(text, "ended", run_state_has_ended(state));
        json_write_end_object(text);
    }
    json_write_end_array(text);
}

void api_experiments_list(struct request *request) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_begin_array(&text, "experiments");
    for (size_t i = 0; experiment_table[i]; i++) {
        const struct experiment *experiment = experiment_table[i];
        json_write_begin_object(&text, NULL);
        json_write_string(&text, "name", experiment->name);
        json_write_string(&text, "title", experiment->title);
        json_write_string(&text, "summary", experiment->summary);
        json_write_boolean(&text, "trains_model", experiment->trains_model);
        json_write_schema(&text, "parameters", experiment->parameters, experiment->parameter_count);
        write_variants(&text, experiment);
        json_write_end_object(&text);
    }
    json_write_end_array(&text);
    write_run_states(&text);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
}
