/* Passes a finished response to libmicrohttpd, with the headers that every answer has. */
#ifndef ATTNLAB_SERVER_HTTP_SEND_H
#define ATTNLAB_SERVER_HTTP_SEND_H

#include "server/http/background.h"
#include "server/http/response.h"

#include <microhttpd.h>

/* Takes over the response's body; the caller may clear the response afterwards. `is_head`: the request's
 * method is HEAD, so only the headers are sent. */
enum MHD_Result send_response(struct MHD_Connection *connection, struct response *response, bool is_head,
                              struct background *background);
/* Writes a short response to the socket itself, as the last one of its connection. */
void send_refusal(int socket, const struct response *response, bool is_head);

#endif
