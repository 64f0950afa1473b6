/* The head of a request by the strict grammar of RFC 9112, line by line.
 *
 * It accepts only what every reader understands alike: where two programs could disagree about what a head
 * says or where its request ends, an attacker could slip a second request past one of them. Pure: no socket,
 * no library. */
#ifndef ATTNLAB_SERVER_HTTP_HEAD_H
#define ATTNLAB_SERVER_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HEAD_MAXIMUM = 16 << 10,    /* bytes of a whole head */
    HEAD_LINE_MAXIMUM = 8 << 10 /* bytes of one line */
};

/* Why a request is refused. */
struct refusal {
    unsigned status;    /* 0: it is not */
    const char *detail; /* static */
};

/* What the lines so far said. Zero-initialised, it waits for a request line. */
struct head {
    bool has_request_line, is_http_1_0;
    bool is_head;              /* the method is HEAD, so no answer has a body */
    bool has_host, has_length; /* the header was there */
    bool is_chunked;
    bool closes, stays; /* said by Connection */
    uint64_t length;    /* of the body, in bytes */
    size_t size;        /* bytes so far */
    size_t parts_size;  /* memory that libmicrohttpd needs for arguments, headers and cookies */
};

/* Takes the next line, without its line end. Returns false if it makes the request one to refuse. */
bool head_take_line(struct head *head, const char *line, size_t length, struct refusal *refusal);
/* Checks what only the whole head can tell: call it at the empty line. */
bool head_end(const struct head *head, struct refusal *refusal);
/* Whether the connection ends after this request. */
bool head_is_last(const struct head *head);

/* Checks a header line (of a trailer, too): a name, a colon, a value without control characters. */
bool head_check_line(const char *line, size_t length, struct refusal *refusal);
/* Refuses a line that is too long; `head` tells which part of the request it belongs to. */
void head_refuse_length(const struct head *head, struct refusal *refusal);

#endif
