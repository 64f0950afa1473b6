/* Answers a request that the front refused, without libmicrohttpd. */
#ifndef ATTNLAB_SERVER_HTTP_REFUSE_H
#define ATTNLAB_SERVER_HTTP_REFUSE_H

#include "server/http/head.h"

/* The front's callback: writes the problem to the socket, logs and counts it. `context` is the http_context.
 */
void refuse_request(void *context, int socket, bool is_head, const struct refusal *refusal);

#endif
