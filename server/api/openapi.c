/* Builds the OpenAPI 3.1 description from the route table and the experiments' declarations. */
#include "core/experiments/experiment.h"
#include "server/api/api.h"
#include "server/api/openapi_schemas.h"
#include "server/api/parameters.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"
#include "server/system/version.h"

#include <ctype.h>
#include <string.h>

static void write_reference(struct text *text, const char *key, const char *name) {
    char target[96];
    snprintf(target, sizeof target, "#/components/schemas/%s", name);
    json_write_begin_object(text, key);
    json_write_string(text, "$ref", target);
    json_write_end_object(text);
}

static bool is_event_stream(const struct route *route) {
    return route_exports(route)->format == FORMAT_EVENTS;
}

/* {"application/json": {"schema": ...}} */
static void write_media_type(struct text *text, enum format format, const char *json_schema) {
    const struct format_kind *kind = &format_table[format];
    if ((format == FORMAT_JSON || format == FORMAT_PROBLEM) && json_schema) {
        json_write_begin_object(text, kind->media_type);
        write_reference(text, "schema", json_schema);
        json_write_end_object(text);
    } else {
        json_write_raw(text, kind->media_type, kind->is_text ? "{\"schema\":{\"type\":\"string\"}}" : "{}");
    }
}

/* The contents of a path with this suffix. A path without one also has the formats that an Accept header may
 * choose. */
static void write_content(struct text *text, const struct route *route, const char *suffix) {
    json_write_begin_object(text, "content");
    for (const struct export *one = route_exports(route); one->format != FORMAT_NONE; one++) {
        const struct format_kind *kind = &format_table[one->format];
        if (strcmp(kind->suffix, suffix) == 0 || (!*suffix && kind->is_negotiable))
            write_media_type(text, one->format, route->response_schema);
    }
    json_write_end_object(text);
}

static void write_responses(struct text *text, const struct route *route, const char *suffix) {
    char status[8];
    snprintf(status, sizeof status, "%u", route->success_status);
    json_write_begin_object(text, "responses");
    json_write_begin_object(text, status);
    json_write_string(text, "description", route->summary);
    if (route->success_status == 201)
        json_write_raw(text, "headers", "{\"Location\":{\"schema\":{\"type\":\"string\"}}}");
    if (route->success_status != 204)
        write_content(text, route, suffix);
    json_write_end_object(text);
    json_write_begin_object(text, "default");
    json_write_string(text, "description", "The problem");
    json_write_begin_object(text, "content");
    write_media_type(text, FORMAT_PROBLEM, "Problem");
    json_write_end_object(text);
    json_write_end_object(text);
    json_write_end_object(text);
}

static void write_request_body(struct text *text, const struct route *route) {
    if (route->body == BODY_NONE)
        return;
    json_write_begin_object(text, "requestBody");
    json_write_boolean(text, "required", true);
    json_write_begin_object(text, "content");
    if (route->body == BODY_JSON)
        write_media_type(text, FORMAT_JSON, route->request_schema);
    for (size_t i = 0; route->body == BODY_DATASET && dataset_formats[i].format != FORMAT_NONE; i++)
        write_media_type(text, dataset_formats[i].format, NULL);
    json_write_end_object(text);
    json_write_end_object(text);
}

static void write_path_parameters(struct text *text, const char *pattern) {
    for (const char *brace = strchr(pattern, '{'); brace; brace = strchr(brace + 1, '{')) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
        json_write_begin_object(text, NULL);
        json_write_string(text, "name", name);
        json_write_string(text, "in", "path");
        json_write_boolean(text, "required", true);
        json_write_raw(text, "schema", "{\"type\":\"string\"}");
        json_write_end_object(text);
    }
}

static void write_query_parameter(struct text *text, const struct parameter_declaration *declaration) {
    char meaning[PARAMETER_MEANING_SIZE];
    json_write_begin_object(text, NULL);
    json_write_string(text, "name", declaration->name);
    json_write_string(text, "in", "query");
    json_write_string(text, "description", parameter_meaning(declaration, meaning));
    json_write_parameter_schema(text, "schema", declaration);
    json_write_end_object(text);
}

static void write_operation_parameters(struct text *text, const struct route *route) {
    json_write_begin_array(text, "parameters");
    write_path_parameters(text, route->pattern);
    for (size_t i = 0; i < route->query_count; i++)
        write_query_parameter(text, &route->query[i]);
    if (route->flags & ROUTE_OPEN_QUERY) { /* examples.c: the task is in the path */
        const struct experiment *train = experiment_find("train");
        for (size_t i = 0; i < train->parameter_count; i++)
            if (strcmp(train->parameters[i].name, "task") != 0)
                write_query_parameter(text, &train->parameters[i]);
    }
    if (is_event_stream(route))
        json_write_raw(
            text, NULL,
            "{\"name\":\"Last-Event-ID\",\"in\":\"header\",\"description\":\"Begin after the event with "
            "this id.\",\"schema\":{\"type\":\"string\"}}");
    json_write_end_array(text);
}

static const char *method_key(const struct route *route) {
    return route->method == METHOD_GET ? "get" : route->method == METHOD_POST ? "post" : "delete";
}

/* A name for client generators: "get_api_runs_id_metrics". */
static void write_operation_id(struct text *text, const struct route *route, const char *path) {
    char name[128];
    int length = snprintf(name, sizeof name, "%s", method_key(route));
    for (const char *c = path; *c && length < (int)sizeof name - 2; c++)
        if (isalnum((unsigned char)*c))
            name[length++] = *c;
        else if (name[length - 1] != '_')
            name[length++] = '_';
    length -= name[length - 1] == '_';
    name[length] = '\0';
    json_write_string(text, "operationId", name);
}

/* This applies with --access token; without it everybody may do everything. */
static void write_security(struct text *text, const struct route *route) {
    static const char *const needs[] = {[NEEDS_LECTURER] = "The lecturer only.",
                                        [NEEDS_NOTHING] = "Everybody.",
                                        [NEEDS_READ] = "The lecturer; students who may read or run.",
                                        [NEEDS_RUN] = "The lecturer; students who may run.",
                                        [NEEDS_OWN_RUN] = "The lecturer; the student who owns it.",
                                        [NEEDS_OWN_COMPARISON] = "The lecturer; the student who owns it.",
                                        [NEEDS_OWN_DATASET] = "The lecturer; the student who owns it."};
    json_write_string(text, "description", needs[route->needs]);
    json_write_raw(text, "security",
                   route->needs == NEEDS_NOTHING    ? "[]"
                   : route->needs == NEEDS_LECTURER ? "[{\"token\":[]},{\"session\":[]}]"
                                                    : "[{\"token\":[]},{\"session\":[]},{}]");
}

static void write_operation(struct text *text, const struct route *route, const char *path,
                            const char *suffix) {
    json_write_begin_object(text, method_key(route));
    write_operation_id(text, route, path);
    json_write_string(text, "summary", route->summary);
    write_security(text, route);
    write_operation_parameters(text, route);
    write_request_body(text, route);
    write_responses(text, route, suffix);
    json_write_end_object(text);
}

static bool is_first_of_pattern(size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcmp(api_routes.routes[i].pattern, api_routes.routes[index].pattern) == 0)
            return false;
    return true;
}

/* Writes the path of a pattern with a format's suffix, and its operations. */
static void write_path(struct text *text, const char *pattern, const char *suffix) {
    struct text operations = {0};
    char path[128];
    snprintf(path, sizeof path, "%s%s", pattern, suffix);
    json_write_begin_object(&operations, NULL);
    size_t empty_length = operations.length;
    for (size_t i = 0; i < api_routes.count; i++) {
        const struct route *route = &api_routes.routes[i];
        if (strcmp(route->pattern, pattern) == 0 && export_find(route_exports(route), suffix))
            write_operation(&operations, route, path, suffix);
    }
    bool is_empty = operations.length == empty_length;
    json_write_end_object(&operations);
    if (!is_empty)
        json_write_raw(text, path, operations.bytes);
    text->failed |= operations.failed;
    text_free(&operations);
}

static void write_paths(struct text *text) {
    json_write_begin_object(text, "paths");
    for (size_t i = 0; i < api_routes.count; i++) {
        if (!is_first_of_pattern(i))
            continue;
        write_path(text, api_routes.routes[i].pattern, "");
        for (enum format format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++)
            if (*format_table[format].suffix)
                write_path(text, api_routes.routes[i].pattern, format_table[format].suffix);
    }
    json_write_end_object(text);
}

/* One schema per experiment: the experiment's name, its parameters, and the members in `more`. */
static void write_request_schema(struct text *text, const struct experiment *experiment, const char *more) {
    json_write_begin_object(text, NULL);
    json_write_string(text, "title", experiment->title);
    json_write_string(text, "description", experiment->summary);
    json_write_string(text, "type", "object");
    json_write_begin_object(text, "properties");
    json_write_begin_object(text, "experiment");
    json_write_string(text, "const", experiment->name);
    json_write_end_object(text);
    json_write_begin_object(text, "name");
    json_write_string(text, "type", "string");
    json_write_integer(text, "maxLength", API_NAME_MAXIMUM);
    json_write_end_object(text);
    if (more)
        text_append_format(text, ",%s", more);
    for (size_t i = 0; i < experiment->parameter_count; i++)
        json_write_parameter_schema(text, experiment->parameters[i].name, &experiment->parameters[i]);
    json_write_end_object(text);
    json_write_raw(text, "required", more ? "[\"experiment\",\"variants\"]" : "[\"experiment\"]");
    json_write_boolean(text, "additionalProperties", false);
    json_write_end_object(text);
}

static void write_request_schemas(struct text *text, const char *name, const char *more) {
    json_write_begin_object(text, name);
    json_write_begin_array(text, "oneOf");
    for (size_t i = 0; experiment_table[i]; i++)
        write_request_schema(text, experiment_table[i], more);
    json_write_end_array(text);
    json_write_end_object(text);
}

/* A string that must be one of the NULL-terminated `names`. */
static void write_enumeration(struct text *text, const char *schema, const char *const *names) {
    json_write_begin_object(text, schema);
    json_write_string(text, "type", "string");
    json_write_begin_array(text, "enum");
    for (size_t i = 0; names[i]; i++)
        json_write_string(text, NULL, names[i]);
    json_write_end_array(text);
    json_write_end_object(text);
}

static void write_components(struct text *text) {
    json_write_begin_object(text, "components");
    json_write_begin_object(text, "schemas");
    write_request_schemas(text, "RunRequest", NULL);
    write_request_schemas(
        text, "ComparisonRequest",
        "\"seeds\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
        "\"variants\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"label\"]}}");
    write_enumeration(text, "RunState", run_state_names);
    write_enumeration(text, "AccessChoice", access_choice_names);
    write_enumeration(text, "AccessRole", access_role_names);
    write_enumeration(text, "StudentRights", student_rights_names);
    for (size_t i = 0; i < openapi_schema_count; i++)
        json_write_raw(text, openapi_schemas[i].name, openapi_schemas[i].json);
    json_write_end_object(text);
    json_write_raw(
        text, "securitySchemes",
        "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"The lecturer's token\"},"
        "\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"" CREDENTIALS_SESSION_COOKIE "\","
        "\"description\":\"Set by POST /api/session\"}}");
    json_write_end_object(text);
}

void api_openapi_get(struct request *request) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "openapi", "3.1.0");
    json_write_begin_object(&text, "info");
    json_write_string(&text, "title", "attnlab");
    json_write_string(&text, "version", ATTNLAB_VERSION);
    json_write_string(&text, "description", "A laboratory for attention: experiments as runs over HTTP.");
    json_write_end_object(&text);
    write_paths(&text);
    write_components(&text);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
}
