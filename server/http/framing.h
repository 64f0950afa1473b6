/* Where the requests of a connection begin and end: a reader of its bytes, in whatever pieces they come.
 *
 * It checks each head (head.h) and the chunks of each body, and stops at the first byte that no reader should
 * be given. Pure, so that it can be fuzzed. */
#ifndef ATTNLAB_SERVER_HTTP_FRAMING_H
#define ATTNLAB_SERVER_HTTP_FRAMING_H

#include "server/formats/text.h"
#include "server/http/head.h"

enum framing_state {
    FRAMING_HEAD,
    FRAMING_BODY,
    FRAMING_CHUNK_SIZE,
    FRAMING_CHUNK,
    FRAMING_CHUNK_END,
    FRAMING_TRAILER,
    FRAMING_CLOSED,  /* the last request of the connection is complete */
    FRAMING_REFUSED, /* see the refusal */
    FRAMING_STATES
};

/* Zero-initialised, it waits for the first request. */
struct framing {
    enum framing_state state;
    struct head head;         /* of the current request */
    uint64_t left;            /* bytes of the body, or of the chunk */
    size_t trailer_size;      /* bytes */
    struct text line;         /* the beginning of a line that is not complete */
    unsigned long head_count; /* sound heads so far */
    struct refusal refusal;
    bool is_body_refused; /* it came in the body of the last sound head */
};

/* Reads on. Returns how many of the bytes may be passed on: all of them, or if the state becomes
 * FRAMING_CLOSED or FRAMING_REFUSED those before the end or the fault. Of a request whose head is refused,
 * nothing of these bytes is passed on. */
size_t framing_take(struct framing *framing, const char *bytes, size_t size);
void framing_free(struct framing *framing);

#endif
