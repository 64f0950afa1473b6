/* What routes answer, in openapi.json: the contents of a success, and every problem that may come instead. */
#include "server/api/openapi_parts.h"

#include "server/api/openapi_schemas.h"
#include "server/formats/json_writer.h"
#include "server/http/status.h"

#include <string.h>

static bool any(const struct route *route) {
    (void)route;
    return true;
}

static bool is_guarded(const struct route *route) {
    return route->needs != NEEDS_NOTHING || route->method != METHOD_GET;
}

static bool is_write(const struct route *route) {
    return route->method != METHOD_GET;
}

static bool takes_body(const struct route *route) {
    return route->body != BODY_NONE;
}

static bool names_something(const struct route *route) {
    return strchr(route->pattern, '{') != NULL;
}

static bool conflicts(const struct route *route) {
    return route->may_conflict;
}

/* The problems, and the routes that answer with them. A client can also be answered with those of HTTP
 * itself, before there is a route. */
static const struct problem_answer {
    unsigned status;
    bool (*applies)(const struct route *route);
    const char *meaning;
} problem_answers[] = {
    {400, any, "The request is not valid HTTP or JSON, or has a member or an argument twice."},
    {401, any, "The token is missing, wrong or no longer valid."},
    {403, is_guarded, "The caller, or the page that the call comes from, may not do this."},
    {404, names_something, "Nothing has this name."},
    {409, conflicts, "Its state does not allow this."},
    {413, is_write, "The body is too large."},
    {415, takes_body, "The body has another media type, or is compressed."},
    {421, any, "The service does not have the name in the header Host."},
    {422, any,
     "An argument or a member is not allowed, does not exist, or has a wrong value; errors has all faults."},
    {429, any, "A limit is reached, or the queue is full; Retry-After says when to try again."},
    {500, any, "The service has a fault."},
    {503, any, "The service is ending, or lacks memory or disk space."},
};

enum { PROBLEM_ANSWER_COUNT = sizeof problem_answers / sizeof *problem_answers };

static bool has_retry_after(unsigned status) {
    return status == 429 || status == 503;
}

static void write_reference(struct text *text, const char *key, const char *kind, const char *name) {
    char target[96];
    snprintf(target, sizeof target, "#/components/%s/%s", kind, name);
    json_write_begin_object(text, key);
    json_write_string(text, "$ref", target);
    json_write_end_object(text);
}

void openapi_write_media_type(struct text *text, enum format format, const char *json_schema) {
    const struct format_kind *kind = &format_table[format];
    json_write_begin_object(text, kind->media_type);
    if ((format == FORMAT_JSON || format == FORMAT_PROBLEM) && json_schema)
        write_reference(text, "schema", "schemas", json_schema);
    else if (format == FORMAT_EVENTS)
        json_write_raw(text, "schema",
                       "{\"type\":\"string\",\"contentMediaType\":\"text/event-stream\",\"contentSchema\":"
                       "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Event\"}}}");
    else if (kind->is_text)
        json_write_raw(text, "schema", "{\"type\":\"string\"}");
    json_write_end_object(text);
}

/* The contents of a path with this suffix. A path without one also has the formats that an Accept header may
 * choose. */
static void write_content(struct text *text, const struct route *route, const char *suffix) {
    json_write_begin_object(text, "content");
    for (const struct export *one = route_exports(route); one->format != FORMAT_NONE; one++) {
        const struct format_kind *kind = &format_table[one->format];
        if (strcmp(kind->suffix, suffix) == 0 || (!*suffix && kind->is_negotiable))
            openapi_write_media_type(text, one->format, route->response_schema);
    }
    json_write_end_object(text);
}

static void write_success(struct text *text, const struct route *route, const char *suffix) {
    char status[8];
    snprintf(status, sizeof status, "%u", route->success_status);
    json_write_begin_object(text, status);
    json_write_string(text, "description", route->summary);
    json_write_begin_object(text, "headers");
    write_reference(text, "X-Request-Id", "headers", "RequestId");
    if (route->success_status == 201)
        write_reference(text, "Location", "headers", "Location");
    json_write_end_object(text);
    if (route->success_status != 204)
        write_content(text, route, suffix);
    json_write_end_object(text);
}

void openapi_write_answers(struct text *text, const struct route *route, const char *suffix) {
    json_write_begin_object(text, "responses");
    write_success(text, route, suffix);
    for (size_t i = 0; i < PROBLEM_ANSWER_COUNT; i++) {
        char status[8], name[24];
        snprintf(status, sizeof status, "%u", problem_answers[i].status);
        snprintf(name, sizeof name, "Problem%u", problem_answers[i].status);
        if (problem_answers[i].applies(route))
            write_reference(text, status, "responses", name);
    }
    json_write_end_object(text);
}

static void write_problem(struct text *text, const struct problem_answer *problem) {
    char name[24], description[200];
    snprintf(name, sizeof name, "Problem%u", problem->status);
    snprintf(description, sizeof description, "%s. %s", status_table[status_find(problem->status)].phrase,
             problem->meaning);
    json_write_begin_object(text, name);
    json_write_string(text, "description", description);
    json_write_begin_object(text, "headers");
    write_reference(text, "X-Request-Id", "headers", "RequestId");
    if (has_retry_after(problem->status))
        write_reference(text, "Retry-After", "headers", "RetryAfter");
    json_write_end_object(text);
    json_write_begin_object(text, "content");
    openapi_write_media_type(text, FORMAT_PROBLEM, "Problem");
    json_write_end_object(text);
    json_write_end_object(text);
}

void openapi_write_shared_answers(struct text *text) {
    json_write_begin_object(text, "responses");
    for (size_t i = 0; i < PROBLEM_ANSWER_COUNT; i++)
        write_problem(text, &problem_answers[i]);
    json_write_end_object(text);
    json_write_raw(
        text, "headers",
        "{\"RequestId\":{\"description\":\"The request's id in the service's log\",\"required\":true,"
        "\"schema\":{\"type\":\"string\",\"minLength\":1}},"
        "\"Location\":{\"description\":\"The path of what was created\",\"required\":true,"
        "\"schema\":{\"type\":\"string\",\"pattern\":\"^/api/\"}},"
        "\"RetryAfter\":{\"description\":\"Seconds to wait\",\"required\":true,"
        "\"schema\":{\"type\":\"integer\",\"minimum\":1}}}");
}
