/* Passes a finished response to libmicrohttpd, with the headers that every answer has. */
#ifndef ATTNLAB_SERVER_HTTP_SEND_H
#define ATTNLAB_SERVER_HTTP_SEND_H

#include "server/http/background.h"
#include "server/http/response.h"

#include <microhttpd.h>
#include <stdatomic.h>

/* All large answers that are being sent. */
struct large_answers {
    struct background *background; /* frees their memory; borrowed */
    size_t maximum;                /* the most bytes of several together; a single one may always be sent */
    atomic_size_t bytes;
};

/* Turns a large answer into a 503 if those that are still being sent already use all the memory allowed: a
 * client that does not read keeps its whole answer in memory. */
void send_limit(struct response *response, const struct large_answers *large_answers);
/* Takes over the response's body; the caller may clear the response afterwards. `is_head`: the request's
 * method is HEAD, so only the headers are sent. */
enum MHD_Result send_response(struct MHD_Connection *connection, struct response *response, bool is_head,
                              struct large_answers *large_answers);
/* Writes a short response to the socket itself, as the last one of its connection. */
void send_refusal(int socket, const struct response *response, bool is_head);

#endif
