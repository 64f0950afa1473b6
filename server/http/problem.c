/* Problems, and the mapping from error codes to statuses: see problem.h. */
#include "server/http/problem.h"

#include "server/formats/format.h"
#include "server/formats/json_writer.h"
#include "server/http/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_LISTED = 100 };

static void begin_problem(struct text *text, unsigned status, const char *detail) {
    json_write_begin_object(text, NULL);
    json_write_string(text, "type", "about:blank");
    json_write_string(text, "title", status_table[status_find(status)].phrase);
    json_write_integer(text, "status", status);
    json_write_string(text, "detail", detail);
}

static void end_problem(struct response *response, unsigned status, struct text *text) {
    json_write_end_object(text);
    response_set_text(response, status, format_table[FORMAT_PROBLEM].content_type, text);
    if ((status == 429 || status == 503) && !response_has_header(response, "Retry-After"))
        response_add_header(response, "Retry-After", "5");
}

void response_set_problem(struct response *response, unsigned status, const char *format, ...) {
    char detail[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    error_trim_text(detail);
    struct text text = {0};
    begin_problem(&text, status, detail);
    end_problem(response, status, &text);
}

void response_set_faults(struct response *response, const struct parameter_faults *faults) {
    if (faults->out_of_memory) {
        response_set_out_of_memory(response);
        return;
    }
    char detail[640];
    snprintf(detail, sizeof detail, "%s %s%s", faults->items[0].field, faults->items[0].message,
             faults->count > 1 ? "; see errors for the other faults" : "");
    error_trim_text(detail);
    struct text text = {0};
    begin_problem(&text, 422, detail);
    json_write_begin_array(&text, "errors");
    for (size_t i = 0; i < faults->count; i++) {
        json_write_begin_object(&text, NULL);
        json_write_string(&text, "field", faults->items[i].field);
        json_write_string(&text, "message", faults->items[i].message);
        json_write_end_object(&text);
    }
    json_write_end_array(&text);
    end_problem(response, 422, &text);
}

void response_set_fault(struct response *response, const char *field, const char *format, ...) {
    struct parameter_faults faults = {0};
    char message[480];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    error_trim_text(message);
    parameter_faults_add(&faults, field, "%s", message);
    response_set_faults(response, &faults);
    parameter_faults_free(&faults);
}

static unsigned find_status(enum error_code code) {
    switch (code) {
    case ERROR_INVALID:
    case ERROR_TOO_LARGE:
    case ERROR_DIVERGED:
        return 422;
    case ERROR_MISSING:
        return 404;
    case ERROR_CONFLICT:
    case ERROR_CANCELLED:
        return 409;
    case ERROR_LIMIT:
        return 429;
    case ERROR_MEMORY:
    case ERROR_UNAVAILABLE:
        return 503;
    case ERROR_NONE:
    case ERROR_DAMAGED:
    case ERROR_INTERNAL:
        break;
    }
    return 500;
}

void response_set_error(struct response *response, const struct error *error) {
    response_set_problem(response, find_status(error->code), "%s",
                         error->message[0] ? error->message : "something went wrong");
}

void response_set_conflict(struct response *response, const struct error *error, char (*runs)[ID_SIZE],
                           size_t count) {
    struct text text = {0};
    begin_problem(&text, 409, error->message);
    json_write_begin_array(&text, "runs");
    for (size_t i = 0; i < count && i < RUNS_LISTED; i++)
        json_write_string(&text, NULL, runs[i]);
    json_write_end_array(&text);
    end_problem(response, 409, &text);
}

void response_set_field_error(struct response *response, const char *field, const struct error *error) {
    if (find_status(error->code) == 422)
        response_set_fault(response, field, "%s", error->message);
    else
        response_set_error(response, error);
}
