/* The life of a request, driven by libmicrohttpd's callbacks:
 *
 *   first call      find the route; check origin, rights, size, encoding and media type; refuse at once
 *   body            collect it, up to the route's limit
 *   end of body     read query and body and run the handler, either here or on a background thread while
 *                   the connection is suspended
 *   after a resume  answer, or poll again for the event that the handler waits for */
#include "server/http/http.h"

#include "server/access/limits.h"
#include "server/http/assets.h"
#include "server/http/conditional.h"
#include "server/http/gate.h"
#include "server/http/guard.h"
#include "server/http/listen.h"
#include "server/http/refuse.h"
#include "server/http/request.h"
#include "server/http/send.h"
#include "server/system/clock.h"
#include "server/system/log.h"

#include <math.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum {
    STREAM_END_SECONDS = 1,
    TRANSFER_BYTES_A_SECOND = 65536, /* the rate at which a slow line carries bodies and answers */
    /* Holds whatever head.h lets pass, with the next one and the headers of the answer. libmicrohttpd 0.9.75
     * answers never, or twice, when it runs out of this. */
    CONNECTION_MEMORY = 32 << 10,
    JSON_BODY_MAXIMUM = 4 << 20,
    DATASET_BODY_MAXIMUM = 64 << 20,
    IGNORED_BODY_MAXIMUM = 64 << 10,
    ALL_BODIES_MAXIMUM = 256 << 20, /* together, of all requests that are being read */
    DISCARDED_MAXIMUM = 8 << 20,
    DISCARDED_LARGE_MAXIMUM = 2 * DATASET_BODY_MAXIMUM /* of a body that is refused for its size */
};

struct http {
    struct http_context *context;
    struct MHD_Daemon *daemon;
    char url[128];
};

/* Even routes without a body accept a small one, because clients send "{}" with every POST. */
static size_t body_maximum(const struct request *request) {
    size_t own = limits_find_data(&request->http->options->student_limits, &request->caller);
    switch (request->match.route->body) {
    case BODY_DATASET:
        return own < DATASET_BODY_MAXIMUM ? own : DATASET_BODY_MAXIMUM;
    case BODY_JSON:
        return JSON_BODY_MAXIMUM;
    case BODY_NONE:
        break;
    }
    return IGNORED_BODY_MAXIMUM;
}

static struct request *create_request(struct http_context *context, struct MHD_Connection *connection) {
    struct request *request = calloc(1, sizeof *request);
    if (request) {
        http_context_name_request(context, request->id);
        request->http = context;
        request->service = context->service;
        request->connection = connection;
        request->started = clock_seconds();
        request->parked.connection = connection;
        request->phase = REQUEST_READING;
        text_allow(&request->body, TEXT_UNLIMITED); /* take_body limits it */
    }
    return request;
}

static void free_request(struct request *request) {
    atomic_fetch_sub(&request->http->body_bytes, request->body.length);
    places_leave(request->http->places, &request->place);
    parameter_set_free(&request->query);
    text_free(&request->body);
    json_decref(request->json);
    response_clear(&request->response);
    free(request);
}

/* Refuses a path that leads to neither a route nor a file. */
static void refuse_path(struct request *request, enum method method, const char *path) {
    unsigned allowed = request->match.allowed_methods;
    if (strcmp(path, "*") == 0)
        allowed = METHOD_GET | METHOD_POST | METHOD_DELETE;
    else if (!allowed && assets_find(request->http->options->web, path))
        allowed = METHOD_GET;
    char list[64];
    method_write_list(allowed, list, sizeof list);
    if (!allowed) {
        response_set_problem(&request->response, 404, "there is nothing at %.200s", path);
    } else if (method == METHOD_OPTIONS) {
        response_set_empty(&request->response, 204);
        response_add_header(&request->response, "Allow", "%s", list);
    } else {
        response_set_problem(&request->response, 405, "%.200s allows %s", path, list);
        response_add_header(&request->response, "Allow", "%s", list);
    }
}

/* Bodies are never decompressed. By RFC 9110, 12.5.3, the answer lists the encodings that are accepted. */
static bool check_encoding(struct request *request) {
    const char *encoding = request_header(request, "Content-Encoding");
    if (request->match.route->body == BODY_NONE || !encoding || !*encoding ||
        strcasecmp(encoding, "identity") == 0)
        return true;
    response_set_problem(&request->response, 415,
                         "the body must be sent without Content-Encoding; it is %.100s", encoding);
    response_add_header(&request->response, "Accept-Encoding", "identity");
    return false;
}

static bool check_announced_body(struct request *request) {
    const struct route *route = request->match.route;
    const char *length = request_header(request, "Content-Length");
    size_t maximum = body_maximum(request);
    if (length && strtoull(length, NULL, 10) > maximum) {
        response_set_problem(&request->response, 413, "the body must have at most %zu bytes; it has %.20s",
                             maximum, length);
        return false;
    }
    if (!check_encoding(request))
        return false;
    const char *type = request_header(request, "Content-Type");
    if (route->body == BODY_JSON && format_find_media_type(type) != FORMAT_JSON) {
        response_set_problem(&request->response, 415, "the body must be %s; it %s%.100s",
                             format_table[FORMAT_JSON].media_type, type ? "is " : "has no Content-Type",
                             type ? type : "");
        return false;
    }
    return true;
}

/* "Accept: text/csv" selects CSV as the suffix does. */
static void choose_format(struct request *request) {
    struct route_match *match = &request->match;
    const struct export *list = route_exports(match->route);
    if (!*format_table[match->export->format].suffix)
        match->export = export_choose(list, match->export, request_header(request, "Accept"));
}

/* Returns false if the request has already been answered. */
static bool begin_request(struct request *request, enum method method, const char *url) {
    request->method = method;
    const char *path = request_take_path(request, url);
    if (!guard_check(request, method))
        return false;
    router_match(&request->match, request->http->routes, method, path);
    if (request->match.route) {
        choose_format(request);
        return gate_check(request) && check_announced_body(request);
    }
    if (method & (METHOD_GET | METHOD_HEAD) &&
        assets_answer(request->http->options->web, path, &request->response))
        return false;
    refuse_path(request, method, path);
    return false;
}

/* Gives the client as much time for this many bytes as a slow line needs. */
static void expect_transfer(struct request *request, double bytes) {
    connections_expect(request->http->connections, request->connection,
                       (double)request->http->options->request_timeout + bytes / TRANSFER_BYTES_A_SECOND);
}

/* Logs the route's pattern instead of the path, because ids, names and queries are private to the users. */
static void log_request(const struct request *request, double seconds) {
    const struct route *route = request->match.route;
    unsigned status = request->response.status;
    log_write(request->http->options->log_level, status >= 500 ? LOG_ERROR : LOG_INFO,
              "request=%s %s %s%s %u %.1fms", request->id, method_name(request->method),
              route ? route->pattern : "other", route ? route_suffix(route) : "", status, seconds * 1000);
}

/* A 304 keeps the body: it is not sent, but the Content-Length must be that of the 200 (RFC 9110, 8.6). */
static void check_condition(struct request *request) {
    struct response *response = &request->response;
    const char *if_none_match = request_header(request, "If-None-Match");
    if (if_none_match && request->method & (METHOD_GET | METHOD_HEAD) && response->status == 200 &&
        !response->stream && conditional_matches(if_none_match, response_find_header(response, "ETag")))
        response->status = 304;
}

/* Of what the work has taken of the memory of answers, only the answer's own bytes are needed from now on. */
static void settle_memory(struct request *request) {
    struct response *response = &request->response;
    char *smaller = response->bytes && response->share.bytes > 0
                        ? realloc(response->bytes, response->size ? response->size : 1)
                        : NULL;
    response->bytes = smaller ? smaller : response->bytes;
    answer_share_keep(&response->share, response->bytes ? response->size : 0);
}

static enum MHD_Result answer(struct request *request) {
    double seconds = clock_seconds() - request->started;
    struct front_client *client = connections_find_client(request->connection);
    if (client)
        front_note_answer(client);
    check_condition(request);
    settle_memory(request);
    log_request(request, seconds);
    response_add_header(&request->response, "X-Request-Id", "%s", request->id);
    statistics_count_request(request->http->statistics, request->match.route, request->response.status,
                             seconds);
    statistics_add_bytes(request->http->statistics, request->body.length + request->discarded,
                         request->response.size);
    expect_transfer(request, request->response.stream ? (double)INFINITY : (double)request->response.size);
    return send_response(request->connection, &request->response, request->method == METHOD_HEAD,
                         request->http->background);
}

/* Parsed JSON takes many times the memory of its text, and the answer may be sent slowly. */
static void drop_json(struct request *request) {
    json_decref(request->json);
    request->json = NULL;
}

static void run_handler(struct request *request) {
    request->response.share = (struct answer_share){.budget = &request->http->answer_budget,
                                                    .is_student = request->caller.role != ROLE_LECTURER};
    if (request_read_query(request) && request_read_body(request) && gate_check_owner(request))
        request->match.route->handler(request);
    drop_json(request);
}

static bool is_abandoned(struct request *request) {
    return request->match.route->flags & ROUTE_ABANDON && request_check_left(request);
}

static void run_handler_in_background(struct background_work *work) {
    struct request *request = (struct request *)((char *)work - offsetof(struct request, work));
    struct http_context *context = request->http;
    void (*later)(struct request *) = request->later;
    request->later = NULL;
    if (is_abandoned(request))
        request->poll = NULL;
    else if (later)
        later(request);
    else
        run_handler(request);
    if (request->has_left)
        statistics_count_abandoned(context->statistics);
    MHD_resume_connection(request->connection);
    atomic_fetch_sub(&context->background_requests, 1);
}

static bool is_of_lecturer(const struct request *request) {
    return strcmp(request->caller.owner, OWNER_LECTURER) == 0;
}

/* What is left to do after the handler takes long; else it would not have been left. */
static enum background_lane choose_lane(const struct request *request) {
    if (!request->later && !(request->match.route->flags & ROUTE_SLOW))
        return BACKGROUND_QUICK;
    return is_of_lecturer(request) ? BACKGROUND_SLOW_LECTURER : BACKGROUND_SLOW;
}

/* No connection may be suspended when libmicrohttpd stops, so http_stop waits for the requests that are
 * counted here. A request that was not counted before the service began to drain is refused. */
static enum MHD_Result start_background_work(struct request *request) {
    struct http_context *context = request->http;
    atomic_fetch_add(&context->background_requests, 1);
    if (atomic_load(&context->is_draining)) {
        atomic_fetch_sub(&context->background_requests, 1);
        response_set_problem(&request->response, 503, "the service is ending");
        return answer(request);
    }
    request->phase = REQUEST_WAITING;
    request->work = (struct background_work){
        .run = run_handler_in_background,
        .owner = is_of_lecturer(request) ? NULL : request->caller.owner,
    };
    MHD_suspend_connection(request->connection);
    background_submit(context->background, choose_lane(request), &request->work);
    return MHD_YES;
}

/* Called after the handler. Answers; or, while the handler's event has not come, parks the connection; or
 * passes the rest of the work to a background thread. */
static enum MHD_Result continue_request(struct request *request) {
    struct parking *parking = request->http->parking;
    request->phase = REQUEST_WAITING;
    if (request->has_left)
        return MHD_NO;
    while (request->poll) {
        unsigned long version = parking_version(parking);
        if (request->poll(request))
            request->poll = NULL;
        else if (parking_wait(parking, &request->parked, version))
            return MHD_YES;
    }
    return request->later ? start_background_work(request) : answer(request);
}

static enum MHD_Result end_body(struct request *request) {
    if (request->phase == REQUEST_REFUSED)
        return answer(request);
    if (request->discarded > 0) {
        response_set_problem(&request->response, 413, "the body must have at most %zu bytes",
                             body_maximum(request));
        return answer(request);
    }
    if (request->body.failed) {
        response_set_out_of_memory(&request->response);
        return answer(request);
    }
    if (request->match.route->flags & ROUTE_BACKGROUND)
        return start_background_work(request);
    run_handler(request);
    return continue_request(request);
}

/* A body that was not announced to be too large turns out to be so while it is read. */
static size_t discarded_maximum(const struct request *request) {
    bool is_too_large = request->phase != REQUEST_REFUSED || request->response.status == 413;
    return is_too_large ? DISCARDED_LARGE_MAXIMUM : DISCARDED_MAXIMUM;
}

/* Keeps reading a body that is refused or too large, because a client that is still sending may miss the
 * answer. It discards the bytes, and it stops at a limit. */
static enum MHD_Result take_body(struct request *request, const char *bytes, size_t *size) {
    if (request->phase == REQUEST_REFUSED || request->discarded > 0 ||
        *size > body_maximum(request) - request->body.length) {
        request->discarded += *size;
    } else if (atomic_fetch_add(&request->http->body_bytes, *size) + *size > ALL_BODIES_MAXIMUM) {
        atomic_fetch_sub(&request->http->body_bytes, *size);
        request->body.failed = true;
    } else {
        size_t before = request->body.length;
        text_append(&request->body, bytes, *size);
        atomic_fetch_sub(&request->http->body_bytes, *size - (request->body.length - before));
    }
    *size = 0;
    return request->discarded > discarded_maximum(request) ? MHD_NO : MHD_YES;
}

/* A refusal is answered once the body has been read, because a client that is still sending may miss it; but
 * at once if the body is endless, or if the client waits for an answer before it sends one (Expect). */
static enum MHD_Result begin_access(struct request *request, enum method method, const char *url) {
    const char *announced = request_header(request, "Content-Length");
    if (begin_request(request, method, url)) {
        expect_transfer(request, announced ? strtod(announced, NULL) : (double)body_maximum(request));
        return MHD_YES;
    }
    request->phase = REQUEST_REFUSED;
    expect_transfer(request, announced ? strtod(announced, NULL) : (double)discarded_maximum(request));
    bool is_endless = announced && strtoull(announced, NULL, 10) > discarded_maximum(request);
    return is_endless || request_header(request, "Expect") ? answer(request) : MHD_YES;
}

static enum MHD_Result handle_access(void *argument, struct MHD_Connection *connection, const char *url,
                                     const char *method_name, const char *version, const char *upload,
                                     size_t *upload_size, void **state) {
    struct request *request = *state;
    (void)version;
    if (!request) {
        const struct front_client *client = connections_find_client(connection);
        if (!client || !front_has_checked(client))
            return MHD_NO;
        request = *state = create_request(argument, connection);
        if (!request)
            return MHD_NO;
        return begin_access(request, method_find(method_name), url);
    }
    if (*upload_size > 0)
        return take_body(request, upload, upload_size);
    connections_expect(request->http->connections, connection, (double)INFINITY);
    return request->phase == REQUEST_WAITING ? continue_request(request) : end_body(request);
}

static void complete_request(void *argument, struct MHD_Connection *connection, void **state,
                             enum MHD_RequestTerminationCode code) {
    struct http_context *context = argument;
    (void)code;
    connections_complete(context->connections, connection, (double)context->options->idle_timeout);
    if (*state) {
        free_request(*state);
        *state = NULL;
    }
}

/* A NUL would end the path or the argument early and so change its meaning. It is replaced by the replacement
 * character, which takes three bytes, the same as "%00". */
static size_t unescape(void *argument, struct MHD_Connection *connection, char *text) {
    static const char replacement[] = {'\xef', '\xbf', '\xbd'};
    (void)argument;
    (void)connection;
    for (char *nul = text; (nul = strstr(nul, "%00")) != NULL;)
        memcpy(nul, replacement, sizeof replacement);
    return MHD_http_unescape(text);
}

struct http *http_start(struct http_context *context, const char *listen, struct error *error) {
    struct http *http = calloc(1, sizeof *http);
    if (!http) {
        error_set_memory(error, sizeof *http);
        return NULL;
    }
    http->context = context;
    connections_set_refusal(context->connections, refuse_request, context);
    int listener = http_listen(listen, http->url, sizeof http->url, error);
    if (listener >= 0) {
        http->daemon = MHD_start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle_access, context,
            MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_NOTIFY_COMPLETED, complete_request, context,
            MHD_OPTION_NOTIFY_CONNECTION, connections_notify, context->connections,
            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)context->options->idle_timeout,
            MHD_OPTION_CONNECTION_LIMIT, (unsigned)connections_limit(context->options),
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_UNESCAPE_CALLBACK,
            unescape, NULL, MHD_OPTION_END);
        if (!http->daemon) {
            close(listener);
            error_set(error, ERROR_UNAVAILABLE, "the HTTP server cannot start");
        }
    }
    if (!http->daemon) {
        free(http);
        return NULL;
    }
    return http;
}

const char *http_url(const struct http *http) {
    return http->url;
}

/* Waits until no request is being handled and every stream has sent its end. Does not wait for slow
 * readers. */
static void wait_until_quiet(struct http_context *context) {
    const struct timespec pause = {.tv_nsec = 2000000};
    double deadline = clock_seconds() + STREAM_END_SECONDS;
    while (atomic_load(&context->background_requests) > 0 ||
           (statistics_stream_count(context->statistics) > 0 && clock_seconds() < deadline))
        nanosleep(&pause, NULL);
}

void http_stop(struct http *http) {
    if (!http)
        return;
    wait_until_quiet(http->context);
    MHD_stop_daemon(http->daemon);
    free(http);
}
