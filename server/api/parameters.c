/* Turns a request's JSON into a prepared set of parameters: see parameters.h. */
#include "server/api/parameters.h"

#include "core/experiments/experiment.h"
#include "core/parameters/parse.h"
#include "core/tasks/task.h"
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

/* The query arguments that are parameters of an experiment. */
struct query_parameters {
    struct request *request;
    const char *task;
    struct parameter_set *set;
    struct parameter_faults *faults;
    const char *repeated; /* an argument that the query has twice, or NULL */
};

static void read_query_parameter(void *owner, const char *name, const char *value) {
    struct query_parameters *reading = owner;
    const struct parameter_set *own = &reading->request->query;
    int index = parameter_find(reading->set, name);
    if (!*value || parameter_find(own, name) >= 0)
        return;
    if (reading->task && strcmp(name, "task") == 0) {
        parameter_faults_add(reading->faults, name, "is what the path names");
    } else if (index < 0) {
        const char *known[API_QUERY_MAXIMUM + 1] = {NULL};
        for (size_t i = 0; i < own->count && i < API_QUERY_MAXIMUM; i++)
            known[i] = own->declarations[i].name;
        json_add_unknown_fault(name, reading->set, known, reading->faults);
    } else if (parameter_is_set(reading->set, name)) {
        reading->repeated = reading->set->declarations[index].name;
    } else {
        parameter_set_from_text(reading->set, (size_t)index, value, reading->faults);
    }
}

bool api_prepare_query(struct request *request, const struct experiment *experiment, const char *task,
                       struct parameter_set *set) {
    struct data_source data = datasets_source(request->service->datasets);
    struct parameter_faults faults = {0};
    struct query_parameters reading = {.request = request, .task = task, .set = set, .faults = &faults};
    struct error error = {0};
    if (!parameter_set_init(set, experiment->parameters, experiment->parameter_count, &error)) {
        response_set_error(&request->response, &error);
        return false;
    }
    if (task)
        parameter_set_text(set, (size_t)parameter_find(set, "task"), task, &faults);
    request_visit_query(request, read_query_parameter, &reading);
    if (reading.repeated) {
        request_refuse_repeated(request, reading.repeated);
        parameter_faults_free(&faults);
        return false;
    }
    if (!experiment_prepare(experiment, set, &data, api_memory_limit(request), &faults, &error)) {
        response_set_error(&request->response, &error);
        parameter_faults_free(&faults);
        return false;
    }
    limits_check_parameters(&request->service->options->student_limits, &request->caller, set, &faults);
    return !api_answer_faults(request, &faults);
}

void api_draw_less(struct parameter_set *set, size_t train_examples, size_t test_examples) {
    const struct task_maker *maker = task_maker_find(parameter_text(set, "task"));
    struct parameter_faults faults = {0}; /* there are none: both numbers only become smaller */
    if (!maker || !maker->draws_in_order)
        return;
    parameter_set_integer(set, (size_t)parameter_find(set, "train_examples"), (int64_t)train_examples,
                          &faults);
    parameter_set_integer(set, (size_t)parameter_find(set, "test_examples"), (int64_t)test_examples, &faults);
    parameter_faults_free(&faults);
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
