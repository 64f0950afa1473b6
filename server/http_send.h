/* Hands a finished response to libmicrohttpd, with the headers that every answer carries. */
#ifndef ATTNLAB_SERVER_HTTP_SEND_H
#define ATTNLAB_SERVER_HTTP_SEND_H

#include "server/background.h"
#include "server/response.h"

#include <microhttpd.h>

/* Takes the response's body; the response can be cleared afterwards. `background`: where large bodies are
 * freed. */
enum MHD_Result http_send(struct MHD_Connection *connection, struct response *response,
                          struct background *background);

#endif
