/* Hands a finished response to libmicrohttpd, with the headers that every answer carries. */
#ifndef ATTNLAB_SERVER_HTTP_SEND_H
#define ATTNLAB_SERVER_HTTP_SEND_H

#include "server/api/service.h"
#include "server/http/response.h"

#include <microhttpd.h>

/* Makes a large answer a 503 where those that are still being sent have taken their share of the memory: a
 * reader that does not read keeps the whole of it. */
void http_limit_answer(struct response *response, struct service *service);
/* Takes the response's body; the response can be cleared afterwards. The service counts large bodies and
 * frees them in the background. */
enum MHD_Result http_send(struct MHD_Connection *connection, struct response *response,
                          struct service *service);

#endif
