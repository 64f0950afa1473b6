/* A response under construction: status, headers, and a body that is owned bytes, borrowed bytes or a stream.
 *
 * Handlers fill it in through these functions and those of problem.h; http.c sends it. The last call wins, so
 * a handler that has prepared a body can still answer with a problem. */
#ifndef ATTNLAB_SERVER_HTTP_RESPONSE_H
#define ATTNLAB_SERVER_HTTP_RESPONSE_H

#include "server/formats/text.h"
#include "server/http/answer_budget.h"

enum { RESPONSE_HEADERS_MAXIMUM = 8 };

struct response_header {
    const char *name; /* static */
    char *value;      /* owned */
};

struct event_stream;

struct response {
    unsigned status; /* 0 until it is set */
    const char *content_type;
    char *bytes; /* owned, released with free() */
    const void *borrowed_bytes;
    size_t size;
    struct event_stream *stream; /* owned */
    struct answer_share share;   /* what the body has taken of the memory of answers */
    struct response_header headers[RESPONSE_HEADERS_MAXIMUM];
    size_t header_count;
    bool lacks_header; /* there was no memory for one, so the answer cannot be sent */
};

/* Takes over the text's bytes. If building the text failed, calls response_set_out_of_memory. */
void response_set_text(struct response *response, unsigned status, const char *content_type,
                       struct text *text);
void response_set_json(struct response *response, unsigned status, struct text *text);
/* Takes over `bytes` (malloc). If it is NULL, calls response_set_out_of_memory. */
void response_set_bytes(struct response *response, unsigned status, const char *content_type, void *bytes,
                        size_t size);
void response_set_borrowed(struct response *response, unsigned status, const char *content_type,
                           const void *bytes, size_t size);
/* Sets a 503 as problem+json that asks the client to try again later. The body is static, because there may
 * be no memory for another. */
void response_set_out_of_memory(struct response *response);
void response_set_empty(struct response *response, unsigned status);
/* Takes over the stream: an answer of server-sent events (stream.h). */
void response_set_stream(struct response *response, struct event_stream *stream);
void response_add_header(struct response *response, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The value of a header that was added; NULL if there is none. */
const char *response_find_header(const struct response *response, const char *name);
bool response_has_header(const struct response *response, const char *name);
void response_clear(struct response *response);

#endif
