/* Reads a request's query and body: see request.h. */
#include "server/http/request.h"

#include "core/parameters/parse.h"
#include "server/formats/json_parameters.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

const char *request_path_value(const struct request *request, size_t index) {
    return request->match.values[index];
}

const char *request_header(const struct request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_host(const struct request *request) {
    return request->authority[0] ? request->authority : request_header(request, "Host");
}

const char *request_take_path(struct request *request, const char *url) {
    const char *authority = strstr(url, "://");
    if (*url == '/' || !authority)
        return url;
    authority += 3;
    size_t length = strcspn(authority, "/");
    snprintf(request->authority, sizeof request->authority, "%.*s", (int)length, authority);
    if (authority[length])
        return authority + length;
    return request->method == METHOD_OPTIONS ? "*" : "/";
}

bool request_check_left(struct request *request) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    ssize_t size = request->has_left || !info ? 0 : recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    bool is_open = size > 0 || (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
    request->has_left |= info && !is_open;
    return request->has_left;
}

static bool check_left(void *owner) {
    return request_check_left(owner);
}

struct stop_request request_stop(struct request *request) {
    return (struct stop_request){check_left, request};
}

struct query_visit {
    void (*visit)(void *owner, const char *name, const char *value);
    void *owner;
};

static enum MHD_Result visit_argument(void *argument, enum MHD_ValueKind kind, const char *name,
                                      const char *value) {
    (void)kind;
    const struct query_visit *visit = argument;
    visit->visit(visit->owner, name, value ? value : "");
    return MHD_YES;
}

void request_visit_query(const struct request *request,
                         void (*visit)(void *owner, const char *name, const char *value), void *owner) {
    struct query_visit state = {visit, owner};
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, visit_argument, &state);
}

struct query_reading {
    struct request *request;
    struct parameter_faults faults;
    const char *repeated; /* an argument that the query has twice, or NULL */
};

static void read_argument(void *owner, const char *name, const char *value) {
    struct query_reading *reading = owner;
    struct request *request = reading->request;
    if (!*value) /* a form sends a field left empty as "?state=&limit=" */
        return;
    int index = parameter_find(&request->query, name);
    if (index >= 0 && parameter_is_set(&request->query, name))
        reading->repeated = request->query.declarations[index].name;
    else if (index >= 0)
        parameter_set_from_text(&request->query, (size_t)index, value, &reading->faults);
    else if (!(request->match.route->flags & ROUTE_OPEN_QUERY))
        json_add_unknown_fault(name, &request->query, NULL, &reading->faults);
}

void request_refuse_repeated(struct request *request, const char *name) {
    response_set_problem(&request->response, 400, "the query has %s twice", name);
}

bool request_read_query(struct request *request) {
    const struct route *route = request->match.route;
    struct query_reading reading = {.request = request};
    struct error error = {0};
    if (!parameter_set_init(&request->query, route->query, route->query_count, &error)) {
        response_set_error(&request->response, &error);
        return false;
    }
    request_visit_query(request, read_argument, &reading);
    if (reading.repeated) {
        request_refuse_repeated(request, reading.repeated);
        parameter_faults_free(&reading.faults);
        return false;
    }
    if (reading.faults.count == 0 && !reading.faults.out_of_memory &&
        parameter_set_apply_defaults(&request->query, &error))
        return true;
    if (error.code != ERROR_NONE)
        response_set_error(&request->response, &error);
    else
        response_set_faults(&request->response, &reading.faults);
    parameter_faults_free(&reading.faults);
    return false;
}

/* Valid JSON with a value that cannot be represented here is a bad parameter, not bad JSON. */
static void refuse_json(struct request *request, const json_error_t *fault) {
    switch (json_error_code(fault)) {
    case json_error_numeric_overflow:
    case json_error_null_character:
    case json_error_null_byte_in_key:
        response_set_fault(&request->response, "body", "cannot be used: line %d, column %d: %s", fault->line,
                           fault->column, fault->text);
        break;
    case json_error_duplicate_key: /* readers differ in which of the two counts */
        response_set_problem(&request->response, 400, "the body has a member twice: line %d, column %d: %s",
                             fault->line, fault->column, fault->text);
        break;
    default:
        response_set_problem(&request->response, 400, "the body is not JSON: line %d, column %d: %s",
                             fault->line, fault->column, fault->text);
    }
}

/* jansson may report no text at all when it cannot allocate memory. */
static bool is_memory_fault(const json_error_t *fault) {
    return json_error_code(fault) == json_error_out_of_memory || !*fault->text;
}

bool request_read_body(struct request *request) {
    if (request->match.route->body != BODY_JSON)
        return true;
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
    json_error_t fault;
    const char *bytes = request->body.bytes ? request->body.bytes : "";
    /* When memory is short, jansson may report bad syntax; so it must report it twice to be believed. */
    for (int attempt = 0; !request->json && attempt < 2; attempt++)
        request->json = json_loadb(bytes, request->body.length, flags, &fault);
    if (!request->json && json_error_code(&fault) == json_error_numeric_overflow) {
        /* Reads whole numbers beyond 64 bits as reals, so that the parameter's own check can name the
         * field. */
        request->json = json_loadb(bytes, request->body.length, flags | JSON_DECODE_INT_AS_REAL, &fault);
    }
    if (!request->json && is_memory_fault(&fault)) {
        response_set_out_of_memory(&request->response);
        return false;
    }
    if (!request->json) {
        refuse_json(request, &fault);
        return false;
    }
    if (!json_is_object(request->json)) {
        response_set_fault(&request->response, "body", "must be a JSON object");
        return false;
    }
    return true;
}
