/* Runs: create (and wait), list, get, cancel and delete. */
#include "server/api/parameters.h"

#include "server/formats/json_writer.h"
#include "server/runs/json.h"
#include "server/system/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { DELETED_AT_ONCE = 200 };
static const double cancel_seconds = 2; /* enough for the current training step */

static void answer_run(struct request *request, const struct run_record *run) {
    bool may_delete = gate_owns(request, run->owner);
    struct text text = {0};
    if (!answer_begin(request, &text, run_json_size(run)))
        return;
    run_write_json(&text, NULL, run, &may_delete);
    response_set_json(&request->response, request->match.route->success_status, &text);
}

/* Answers with a run whose result is large; the run was waited for or is named by the path. Called later,
 * because reading and writing the result takes too long for the HTTP thread. */
static void answer_large_run(struct request *request) {
    struct service *service = request->service;
    const char *id = *request->waits_for_run ? request->waits_for_run : request_path_value(request, 0);
    struct run_record run = {0};
    struct run_sizes sizes = {0};
    struct error error = {0};
    if (!runs_find(service->runs, id, &run, &error) ||
        (run_record_lacks_result(&run) && !service->store->measure_run(service->store, id, &sizes, &error)))
        response_set_error(&request->response, &error);
    else if (answer_reserve(request, sizes.result_bytes)) {
        if (!run_record_lacks_result(&run) ||
            service->store->read_result(service->store, id, &run.result_json, &error))
            answer_run(request, &run);
        else
            response_set_error(&request->response, &error);
    }
    run_record_clear(&run);
}

/* Answers now or, for a large result, later. While the service is ending nothing runs later, so the result is
 * left out. */
static void answer_run_or_later(struct request *request, const struct run_record *run) {
    if (run_record_lacks_result(run) && !atomic_load(&request->http->is_draining))
        request->later = answer_large_run;
    else
        answer_run(request, run);
}

/* Whether the run has ended or the wait is over; if so, answers with the run. */
static bool poll_run(struct request *request) {
    struct run_record run = {0};
    struct error error = {0};
    if (!runs_find(request->service->runs, request->waits_for_run, &run, &error)) {
        response_set_error(&request->response, &error);
        return true;
    }
    bool is_over = run_state_has_ended(run.state) || clock_seconds() >= request->parked.deadline ||
                   atomic_load(&request->http->is_draining);
    if (is_over)
        answer_run_or_later(request, &run);
    run_record_clear(&run);
    return is_over;
}

/* Delays the answer until the run has ended, for at most so many seconds. */
static void wait_for_run(struct request *request, const char *id, double seconds) {
    snprintf(request->waits_for_run, sizeof request->waits_for_run, "%s", id);
    request->parked.run_id = request->waits_for_run;
    request->parked.deadline = request->started + seconds;
    request->poll = poll_run;
}

static void create_run(struct request *request, const struct run_request *wanted) {
    struct run_record run = {0};
    struct error error = {0};
    if (!runs_create(request->service->runs, wanted, &run, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    answer_run(request, &run);
    response_add_header(&request->response, "Location", "/api/runs/%s", run.id);
    int64_t wait = parameter_integer(&request->query, "wait");
    if (wait > 0)
        wait_for_run(request, run.id, (double)wait);
    run_record_clear(&run);
}

void api_runs_create(struct request *request) {
    static const char *const reserved[] = {"experiment", "name", NULL};
    const struct student_limits *limits = &request->service->options->student_limits;
    char network[NETWORK_SIZE];
    struct parameter_faults faults = {0};
    struct parameter_set set = {0};
    access_write_network(request->service->access, &request->caller, network);
    const json_t *object = request->json;
    struct run_request wanted = {.experiment = api_read_experiment(object, &faults),
                                 .parameters = &set,
                                 .name = api_read_text(object, "name", "", &faults),
                                 .owner = request->caller.owner,
                                 .queue_limit = limits_find_queue(limits, &request->caller),
                                 .network = network,
                                 .network_limit = limits_find_network_queue(limits, &request->caller)};
    bool is_prepared = !wanted.experiment || api_prepare_parameters(request, wanted.experiment, &object, 1,
                                                                    reserved, &set, &faults);
    if (is_prepared && !api_answer_faults(request, &faults))
        create_run(request, &wanted);
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}

/* Leaves a large result out, to keep a page of runs small; the run itself has it. */
static void write_listed_run(struct text *text, const struct request *request, const struct run_record *run) {
    bool may_delete = gate_owns(request, run->owner);
    run_write_brief_json(text, NULL, run, &may_delete);
}

static const char *text_or_null(const struct parameter_set *query, const char *name) {
    return parameter_is_set(query, name) ? parameter_text(query, name) : NULL;
}

void api_runs_list(struct request *request) {
    const struct parameter_set *query = &request->query;
    size_t limit = (size_t)parameter_integer(query, "limit");
    struct run_filter filter = {
        .state = parameter_is_set(query, "state") ? run_state_find(parameter_text(query, "state")) : -1,
        .experiment = text_or_null(query, "experiment"),
        .comparison = text_or_null(query, "comparison"),
        .owner = parameter_boolean(query, "mine") ? request->caller.owner : text_or_null(query, "owner"),
        .before = text_or_null(query, "before"),
        .limit = limit + 1, /* one more than asked for, to see if there is a next page */
    };
    struct run_record *runs = NULL;
    struct error error = {0};
    struct text text = {0};
    size_t count = 0;
    size_t size = ANSWER_OBJECT;
    if (!runs_list(request->service->runs, &filter, &runs, &count, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    for (size_t i = 0; i < count && i < limit; i++)
        size += run_json_size(&runs[i]);
    if (!answer_begin(request, &text, size))
        goto cleanup;
    json_write_begin_object(&text, NULL);
    json_write_begin_array(&text, "runs");
    for (size_t i = 0; i < count && i < limit; i++)
        write_listed_run(&text, request, &runs[i]);
    json_write_end_array(&text);
    json_write_string(&text, "next", count > limit ? runs[limit - 1].id : NULL);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
cleanup:
    run_records_free(runs, count);
    text_free(&text);
}

void api_runs_get(struct request *request) {
    struct run_record run = {0};
    struct error error = {0};
    if (runs_find(request->service->runs, request_path_value(request, 0), &run, &error)) {
        answer_run_or_later(request, &run);
        run_record_clear(&run);
    } else {
        response_set_error(&request->response, &error);
    }
}

void api_runs_cancel(struct request *request) {
    struct run_record run = {0};
    struct error error = {0};
    if (runs_cancel(request->service->runs, request_path_value(request, 0), &run, &error)) {
        answer_run(request, &run);
        if (!run_state_has_ended(run.state))
            wait_for_run(request, run.id, cancel_seconds);
        run_record_clear(&run);
    } else {
        response_set_error(&request->response, &error);
    }
}

void api_runs_delete(struct request *request) {
    struct error error = {0};
    if (runs_delete(request->service->runs, request_path_value(request, 0), &error))
        response_set_empty(&request->response, 204);
    else
        response_set_error(&request->response, &error);
}

/* Runs that have not ended are left alone. A query that says nothing is more likely a slip than a wish. */
void api_runs_delete_many(struct request *request) {
    const struct parameter_set *query = &request->query;
    const struct run_filter filter = {
        .state = parameter_is_set(query, "state") ? run_state_find(parameter_text(query, "state")) : -1,
        .experiment = text_or_null(query, "experiment"),
        .owner = text_or_null(query, "owner"),
        .limit = DELETED_AT_ONCE,
    };
    struct error error = {0};
    struct text text = {0};
    size_t deleted = 0;
    if (filter.state < 0 && filter.experiment == NULL && filter.owner == NULL) {
        response_set_fault(&request->response, "state",
                           "or experiment or owner must say which runs are meant");
        return;
    }
    if (!runs_delete_ended(request->service->runs, &filter, &deleted, &error)) {
        response_set_error(&request->response, &error);
        return;
    }
    json_write_begin_object(&text, NULL);
    json_write_integer(&text, "deleted", (int64_t)deleted);
    json_write_boolean(&text, "are_left", deleted == filter.limit);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
}
