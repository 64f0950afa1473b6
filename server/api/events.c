/* Event streams: of one run, and of all runs. */
#include "server/api/api.h"
#include "server/http/stream.h"

#include <errno.h>
#include <stdlib.h>

/* The stream writes itself. */
const struct export api_events_exports[] = {{.format = FORMAT_EVENTS}, {0}};

/* Where the stream starts: after the last event id of a returning client, from Last-Event-ID (which a browser
 * sends) or ?after=; otherwise at `fresh`. An id beyond `newest` is from another database (the data directory
 * was replaced, or a damaged database set aside): nothing that the client has is in this one, and it would
 * wait in vain for the ids to come so far, so it gets what there is from its beginning. Returns false with a
 * problem if the id is invalid. */
static bool read_cursor(struct request *request, uint64_t fresh, uint64_t newest, uint64_t *cursor) {
    const char *given = request_header(request, "Last-Event-ID");
    if (!given && parameter_is_set(&request->query, "after"))
        given = parameter_text(&request->query, "after");
    *cursor = fresh;
    if (!given || !*given)
        return true;
    char *end;
    errno = 0;
    uint64_t id = strtoull(given, &end, 10);
    *cursor = id <= newest ? id : 0;
    if (*given < '0' || *given > '9' || *end || errno) {
        struct parameter_faults faults = {0};
        parameter_faults_add(&faults, "after", "must be the id of an event; got \"%.40s\"", given);
        response_set_faults(&request->response, &faults);
        parameter_faults_free(&faults);
        return false;
    }
    return true;
}

static void answer_stream(struct request *request, const char *run_id, uint64_t fresh) {
    struct error error = {0};
    uint64_t cursor;
    if (!read_cursor(request, fresh, event_log_newest_id(request->service->event_log), &cursor))
        return;
    struct event_stream *stream =
        event_stream_create(&request->service->event_source, request->connection, run_id, cursor, &error);
    if (stream)
        response_set_stream(&request->response, stream);
    else
        response_set_error(&request->response, &error);
}

/* The stream of a run starts with the run's first event. */
void api_events_of_run(struct request *request) {
    struct run_record run = {0};
    struct error error = {0};
    if (runs_find(request->service->runs, request_path_value(request, 0), &run, &error)) {
        answer_stream(request, run.id, 0);
        run_record_clear(&run);
    } else {
        response_set_error(&request->response, &error);
    }
}

/* The stream of all runs starts with the next event. */
void api_events_of_all(struct request *request) {
    answer_stream(request, "", event_log_newest_id(request->service->event_log));
}
