/* Data sets: the built-in, generated ones and the user's own. */
#include "server/api/api.h"

#include "core/tasks/task.h"
#include "server/access/limits.h"
#include "server/formats/json_writer.h"
#include "server/system/clock.h"

#include <stdlib.h>
#include <string.h>

static const char *kind_name(enum dataset_kind kind) {
    return kind == DATASET_TEXT ? "text" : "numbers";
}

/* Writes one list of words per class. */
static void write_decisive_words(struct text *text, const char *const *const lists[2]) {
    json_write_begin_array(text, "decisive_words");
    for (size_t i = 0; i < 2; i++) {
        json_write_begin_array(text, NULL);
        for (const char *const *word = lists[i]; *word; word++)
            json_write_string(text, NULL, *word);
        json_write_end_array(text);
    }
    json_write_end_array(text);
}

static void write_drawn(struct text *text, const struct task_maker *maker) {
    struct task_request defaults = {.name = maker->name};
    struct task_summary summary;
    maker->describe(&defaults, &summary);
    json_write_begin_object(text, NULL);
    json_write_string(text, "name", maker->name);
    json_write_string(text, "kind", kind_name(summary.kind));
    json_write_string(text, "source", "drawn");
    json_write_string(text, "summary", maker->summary);
    json_write_integer(text, "classes", (int64_t)summary.class_count);
    if (maker->decisive_words[0])
        write_decisive_words(text, maker->decisive_words);
    json_write_end_object(text);
}

static void write_dataset(struct text *text, const struct request *request,
                          const struct dataset_record *record) {
    char created[32];
    clock_format_rfc3339(record->created_ms, created);
    json_write_begin_object(text, NULL);
    json_write_string(text, "name", record->name);
    json_write_string(text, "kind", kind_name(record->is_text ? DATASET_TEXT : DATASET_NUMBERS));
    json_write_string(text, "source", "given");
    json_write_integer(text, "rows", (int64_t)record->row_count);
    json_write_integer(text, "classes", (int64_t)record->class_count);
    json_write_integer(text, "words", (int64_t)record->word_count);
    json_write_integer(text, "size_bytes", (int64_t)record->size_bytes);
    json_write_string(text, "digest", record->digest);
    json_write_string(text, "created_at", created);
    json_write_boolean(text, "may_delete", gate_owns(request, record->owner));
    json_write_end_object(text);
}

/* A drawn task is hidden by a data set of its name, which was uploaded before the task existed. */
static void write_drawn_tasks(struct text *text, const struct service *service) {
    for (size_t i = 0; task_makers[i]; i++) {
        struct dataset_record given;
        if (datasets_find(service->datasets, task_makers[i]->name, &given, NULL))
            dataset_record_clear(&given);
        else
            write_drawn(text, task_makers[i]);
    }
}

/* The drawn tasks come before the first page of the others. */
void api_datasets_list(struct request *request) {
    const struct parameter_set *query = &request->query;
    const char *after = parameter_is_set(query, "after") ? parameter_text(query, "after") : NULL;
    size_t limit = (size_t)parameter_integer(query, "limit");
    struct dataset_record *records = NULL;
    struct error error = {0};
    struct text text = {0};
    size_t count = 0;
    /* One more than asked for, to see if there is a next page. */
    if (!datasets_list(request->service->datasets, after, limit + 1, &records, &count, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    if (!answer_begin(request, &text, TEXT_SMALL + count * ANSWER_OBJECT))
        goto cleanup;
    json_write_begin_object(&text, NULL);
    json_write_begin_array(&text, "datasets");
    if (!after)
        write_drawn_tasks(&text, request->service);
    for (size_t i = 0; i < count && i < limit; i++)
        write_dataset(&text, request, &records[i]);
    json_write_end_array(&text);
    json_write_string(&text, "next", count > limit ? records[limit - 1].name : NULL);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
cleanup:
    for (size_t i = 0; i < count; i++)
        dataset_record_clear(&records[i]);
    free(records);
}

/* The format of a body with this Content-Type. If data sets cannot have it, sets a 415 and returns
 * FORMAT_NONE. */
static enum format find_format(struct request *request, const char *type) {
    enum format found = format_find_media_type(type);
    struct text known = {0};
    for (size_t i = 0; dataset_formats[i].format != FORMAT_NONE; i++) {
        if (dataset_formats[i].format == found)
            return found;
        text_append_format(&known, "%s%s", i > 0 ? " or " : "",
                           format_table[dataset_formats[i].format].media_type);
    }
    response_set_problem(&request->response, 415, "the body must be %s; it %s%.100s",
                         known.failed ? "a data set" : known.bytes, type ? "is " : "has no Content-Type",
                         type ? type : "");
    text_free(&known);
    return FORMAT_NONE;
}

void api_datasets_create(struct request *request) {
    enum format format = find_format(request, request_header(request, "Content-Type"));
    const char *name =
        parameter_is_set(&request->query, "name") ? parameter_text(&request->query, "name") : "";
    struct dataset_record record = {0};
    struct error error = {0};
    struct text text = {0};
    if (format == FORMAT_NONE)
        return;
    if (!datasets_check_name(name, &error)) {
        response_set_field_error(&request->response, "name", &error);
        return;
    }
    const struct service *service = request->service;
    if (!limits_check_data(&service->options->student_limits, &request->caller, service->datasets,
                           request->body.length, &error) ||
        !runs_check_disk(service->runs, request->caller.owner, request->body.length, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    const char *bytes = request->body.bytes ? request->body.bytes : "";
    if (!datasets_add(request->service->datasets, name, format, bytes, request->body.length,
                      request->caller.owner, &record, &error)) {
        response_set_field_error(&request->response, "body", &error);
        return;
    }
    write_dataset(&text, request, &record);
    response_set_json(&request->response, 201, &text);
    response_add_header(&request->response, "Location", "/api/datasets/%s/examples", record.name);
    dataset_record_clear(&record);
}

void api_datasets_delete(struct request *request) {
    struct run_ids users = {0};
    struct error error = {0};
    if (datasets_delete(request->service->datasets, request_path_value(request, 0), &users, &error))
        response_set_empty(&request->response, 204);
    else if (users.count > 0)
        response_set_conflict(&request->response, &error, users.ids, users.count);
    else
        response_set_error(&request->response, &error);
    free(users.ids);
}
