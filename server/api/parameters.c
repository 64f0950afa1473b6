/* Turns a request's JSON into a prepared set of parameters: see parameters.h. */
#include "server/api/parameters.h"

#include "core/experiments/experiment.h"
#include "server/formats/json_parameters.h"

#include <string.h>

static void add_experiment_fault(struct parameter_faults *faults, const char *complaint) {
    struct text names = {0};
    for (size_t i = 0; experiment_table[i]; i++)
        text_append_format(&names, "%s%s", i ? ", " : "", experiment_table[i]->name);
    parameter_faults_add(faults, "experiment", "must be one of %s; %.60s", names.bytes ? names.bytes : "none",
                         complaint);
    text_free(&names);
}

const struct experiment *api_read_experiment(const json_t *object, struct parameter_faults *faults) {
    const json_t *value = json_object_get(object, "experiment");
    const char *name = json_string_value(value);
    const struct experiment *experiment = name ? experiment_find(name) : NULL;
    if (experiment)
        return experiment;
    char complaint[64];
    if (name) {
        snprintf(complaint, sizeof complaint, "got \"%.50s\"", name);
    } else {
        snprintf(complaint, sizeof complaint, "%s",
                 value ? "got a value that is not a text" : "it is missing");
    }
    add_experiment_fault(faults, complaint);
    return NULL;
}

bool api_takes_seed(const struct experiment *experiment) {
    for (size_t i = 0; i < experiment->parameter_count; i++)
        if (strcmp(experiment->parameters[i].name, API_SEED_PARAMETER) == 0)
            return true;
    return false;
}

bool api_is_text(const json_t *value, size_t maximum) {
    return json_is_string(value) && parameter_count_characters(json_string_value(value)) <= maximum;
}

const char *api_read_text(const json_t *object, const char *name, const char *missing,
                          struct parameter_faults *faults) {
    const json_t *value = json_object_get(object, name);
    if (!value)
        return missing;
    if (!api_is_text(value, API_NAME_MAXIMUM)) {
        parameter_faults_add(faults, name, "must be a text of at most %d characters", API_NAME_MAXIMUM);
        return NULL;
    }
    return json_string_value(value);
}

bool api_prepare_parameters(struct request *request, const struct experiment *experiment,
                            const json_t *const *objects, size_t object_count, const char *const *reserved,
                            struct parameter_set *set, struct parameter_faults *faults) {
    struct service *service = request->service;
    struct data_source data = datasets_source(service->datasets);
    struct error error = {0};
    bool is_ready = parameter_set_init(set, experiment->parameters, experiment->parameter_count, &error);
    for (size_t i = 0; is_ready && i < object_count; i++)
        json_read_parameters(objects[i], reserved, set, faults);
    is_ready =
        is_ready && experiment_prepare(experiment, set, &data, api_memory_limit(request), faults, &error);
    const struct student_limits *limits = &service->options->student_limits;
    if (is_ready)
        limits_check_parameters(limits, &request->caller, set, faults);
    if (is_ready && faults->count == 0)
        limits_check_cost(limits, &request->caller, &service->speed, experiment, set, &data, faults);
    if (!is_ready)
        response_set_error(&request->response, &error);
    return is_ready;
}

unsigned long long api_memory_limit(const struct request *request) {
    const struct service *service = request->service;
    return limits_find_memory(&service->options->student_limits, &request->caller,
                              service->memory_limit_bytes);
}

bool api_answer_faults(struct request *request, struct parameter_faults *faults) {
    bool has_faults = faults->count > 0 || faults->out_of_memory;
    if (has_faults)
        response_set_faults(&request->response, faults);
    parameter_faults_free(faults);
    return has_faults;
}
