/* Hands a finished response to libmicrohttpd, with the headers that every answer carries. */
#ifndef ATTNLAB_SERVER_HTTP_SEND_H
#define ATTNLAB_SERVER_HTTP_SEND_H

#include "server/http/background.h"
#include "server/http/response.h"

#include <microhttpd.h>
#include <stdatomic.h>

/* The large answers that are being sent, all together. */
struct large_answers {
    struct background *background; /* gives their memory back; borrowed */
    size_t maximum;                /* the most bytes of several; one may always be sent */
    atomic_size_t bytes;
};

/* Makes a large answer a 503 if those that are still being sent have taken their share of the memory: a
 * reader that does not read keeps the whole of it. */
void send_limit(struct response *response, const struct large_answers *large_answers);
/* Takes the response's body; the response can be cleared afterwards. */
enum MHD_Result send_response(struct MHD_Connection *connection, struct response *response,
                              struct large_answers *large_answers);

#endif
