/* The layers of the model that parameters of `train` describe, as its PyTorch class reads. */
#include "server/api/parameters.h"

#include "core/experiments/experiment.h"
#include "core/model/modules.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>

static void write_counts(struct text *text, const char *name, const size_t *counts, size_t count) {
    json_write_begin_array(text, name);
    for (size_t i = 0; i < count; i++)
        json_write_integer(text, NULL, (int64_t)counts[i]);
    json_write_end_array(text);
}

static void write_module(struct text *text, const struct module_list *list, const struct module *module) {
    json_write_begin_object(text, NULL);
    json_write_string(text, "name", module->name);
    json_write_string(text, "type", module->type);
    json_write_string(text, "code", module->code);
    write_counts(text, "shape", module->shape, module->rank);
    json_write_integer(text, "parameter_count", (int64_t)module->parameter_count);
    json_write_begin_array(text, "parameters");
    for (size_t i = 0; i < module->tensor_count; i++) {
        const struct tensor *tensor = &list->tensors[module->first_tensor + i];
        json_write_begin_object(text, NULL);
        json_write_string(text, "name", tensor->name);
        write_counts(text, "shape", tensor->shape, tensor->rank);
        json_write_end_object(text);
    }
    json_write_end_array(text);
    json_write_end_object(text);
}

static void answer_layers(struct request *request, const struct model *model) {
    struct text text = {0};
    struct error error = {0};
    struct module_list *list = malloc(sizeof *list);
    if (!list) {
        error_set_memory(&error, sizeof *list);
        response_set_error(&request->response, &error);
        return;
    }
    model_list_modules(model, list);
    if (answer_begin(request, &text, (list->count + list->tensor_count + 1) * ANSWER_OBJECT)) {
        json_write_begin_object(&text, NULL);
        json_write_begin_array(&text, "layers");
        for (size_t i = 0; i < list->count; i++)
            write_module(&text, list, &list->modules[i]);
        json_write_end_array(&text);
        json_write_integer(&text, "parameter_count", (int64_t)model->parameter_count);
        json_write_end_object(&text);
        response_set_json(&request->response, 200, &text);
    }
    free(list);
}

/* Only the data set's words say how large an embedding is, so this opens the data as a run would. */
void api_layers_get(struct request *request) {
    struct service *service = request->service;
    struct inspector_slot *slot = NULL;
    struct parameter_set set = {0};
    struct error error = {0};
    struct text key = {0};
    char *digest = NULL;
    if (!api_prepare_query(request, experiment_find("train"), NULL, &set))
        goto cleanup;
    api_draw_less(&set, 1, 1);
    if (datasets_find_digest(service->datasets, parameter_text(&set, "task"), &digest, &error)) {
        json_write_parameters(&key, NULL, &set);
        text_append_format(&key, " %s", digest);
        if (key.failed)
            error_set_memory(&error, key.length);
        else
            slot = inspector_acquire_parameters(service->inspector, key.bytes, &set, request_stop(request),
                                                &error);
    }
    if (slot)
        answer_layers(request, inspection_model(slot->inspection));
    else
        response_set_error(&request->response, &error);
cleanup:
    inspector_release(service->inspector, slot);
    parameter_set_free(&set);
    text_free(&key);
    free(digest);
}
