/* Builds the OpenAPI 3.1 description from the route table and the experiments' declarations. */
#include "core/experiments/experiment.h"
#include "server/api/api.h"
#include "server/api/openapi_parts.h"
#include "server/api/openapi_schemas.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"
#include "server/system/version.h"

#include <ctype.h>
#include <string.h>

static void write_path_parameters(struct text *text, const char *pattern) {
    for (const char *brace = strchr(pattern, '{'); brace; brace = strchr(brace + 1, '{')) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(brace + 1, "}"), brace + 1);
        json_write_begin_object(text, NULL);
        json_write_string(text, "name", name);
        json_write_string(text, "in", "path");
        json_write_string(text, "description", "Which one; an answer that has it says so.");
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
    if (route->flags & ROUTE_OPEN_QUERY) { /* api_prepare_query; a path with a name names the task */
        const struct experiment *train = experiment_find("train");
        bool names_task = strchr(route->pattern, '{') != NULL;
        for (size_t i = 0; i < train->parameter_count; i++)
            if (!names_task || strcmp(train->parameters[i].name, "task") != 0)
                write_query_parameter(text, &train->parameters[i]);
    }
    if (route_exports(route)->format == FORMAT_EVENTS)
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
                                                    : "[{\"token\":[]},{\"session\":[]},{\"owner\":[]},{}]");
}

static void write_operation(struct text *text, const struct route *route, const char *path,
                            const char *suffix) {
    json_write_begin_object(text, method_key(route));
    write_operation_id(text, route, path);
    json_write_string(text, "summary", route->summary);
    write_security(text, route);
    write_operation_parameters(text, route);
    openapi_write_request_body(text, route);
    openapi_write_answers(text, route, suffix);
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

static void write_security_schemes(struct text *text) {
    json_write_raw(
        text, "securitySchemes",
        "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\",\"description\":\"The lecturer's token\"},"
        "\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"" CREDENTIALS_SESSION_COOKIE "\","
        "\"description\":\"The lecturer's session, set by POST /api/session\"},"
        "\"owner\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":\"" CREDENTIALS_OWNER_COOKIE "\","
        "\"description\":\"The student's, set by GET /api/session: what is created with it can be deleted "
        "with "
        "it\"}}");
}

static void write_components(struct text *text) {
    json_write_begin_object(text, "components");
    json_write_begin_object(text, "schemas");
    openapi_write_request_schemas(text);
    write_enumeration(text, "RunState", run_state_names);
    write_enumeration(text, "AccessChoice", access_choice_names);
    write_enumeration(text, "AccessRole", access_role_names);
    write_enumeration(text, "StudentRights", student_rights_names);
    for (size_t i = 0; i < openapi_schema_count; i++)
        openapi_write_schema(text, &openapi_schemas[i]);
    openapi_write_event_schema(text);
    json_write_end_object(text);
    openapi_write_shared_answers(text);
    write_security_schemes(text);
    json_write_end_object(text);
}

/* Paths are relative to the address that the document was fetched from. */
void api_openapi_get(struct request *request) {
    struct text text = {0};
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "openapi", "3.1.0");
    json_write_begin_object(&text, "info");
    json_write_string(&text, "title", "attnlab");
    json_write_string(&text, "version", ATTNLAB_VERSION);
    json_write_string(&text, "description", "A laboratory for attention: experiments as runs over HTTP.");
    json_write_raw(&text, "license", "{\"name\":\"MIT\",\"identifier\":\"MIT\"}");
    json_write_end_object(&text);
    json_write_raw(&text, "servers", "[{\"url\":\"/\",\"description\":\"This service\"}]");
    write_paths(&text);
    write_components(&text);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
}
