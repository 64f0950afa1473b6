/* Fills in an answer: see response.h. */
#include "server/http/response.h"

#include "server/formats/format.h"
#include "server/http/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_body(struct response *response) {
    free(response->bytes);
    event_stream_free(response->stream);
    response->bytes = NULL;
    response->borrowed_bytes = NULL;
    response->stream = NULL;
    response->size = 0;
}

void response_set_bytes(struct response *response, unsigned status, const char *content_type, void *bytes,
                        size_t size) {
    if (!bytes) {
        response_set_out_of_memory(response);
        return;
    }
    clear_body(response);
    response->status = status;
    response->content_type = content_type;
    response->bytes = bytes;
    response->size = size;
}

void response_set_text(struct response *response, unsigned status, const char *content_type,
                       struct text *text) {
    size_t size = text->length;
    response_set_bytes(response, status, content_type, text_release(text), size);
}

void response_set_json(struct response *response, unsigned status, struct text *text) {
    response_set_text(response, status, format_table[FORMAT_JSON].content_type, text);
}

void response_set_borrowed(struct response *response, unsigned status, const char *content_type,
                           const void *bytes, size_t size) {
    clear_body(response);
    response->status = status;
    response->content_type = content_type;
    response->borrowed_bytes = bytes;
    response->size = size;
}

void response_set_out_of_memory(struct response *response) {
    static const char body[] = "{\"type\":\"about:blank\",\"title\":\"Service Unavailable\",\"status\":503,"
                               "\"detail\":\"out of memory; try again later\"}";
    response_set_borrowed(response, 503, format_table[FORMAT_PROBLEM].content_type, body, sizeof body - 1);
    if (!response_has_header(response, "Retry-After"))
        response_add_header(response, "Retry-After", "5");
}

void response_set_empty(struct response *response, unsigned status) {
    response_set_borrowed(response, status, NULL, "", 0);
}

void response_set_stream(struct response *response, struct event_stream *stream) {
    clear_body(response);
    response->status = 200;
    response->content_type = format_table[FORMAT_EVENTS].content_type;
    response->stream = stream;
}

void response_add_header(struct response *response, const char *name, const char *format, ...) {
    if (response->header_count == RESPONSE_HEADERS_MAXIMUM)
        return;
    va_list arguments;
    va_start(arguments, format);
    struct response_header *header = &response->headers[response->header_count];
    header->name = name;
    if (vasprintf(&header->value, format, arguments) >= 0)
        response->header_count++;
    else
        response->lacks_header = true;
    va_end(arguments);
}

const char *response_find_header(const struct response *response, const char *name) {
    for (size_t i = 0; i < response->header_count; i++)
        if (strcmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}

bool response_has_header(const struct response *response, const char *name) {
    return response_find_header(response, name) != NULL;
}

void response_clear(struct response *response) {
    clear_body(response);
    for (size_t i = 0; i < response->header_count; i++)
        free(response->headers[i].value);
    answer_share_keep(&response->share, 0);
    *response = (struct response){0};
}
