/* HTTP: the life of a request, from the socket to the answer.
 *
 * One thread of libmicrohttpd serves every connection; what it reads has been checked (front). For each
 * request http.c finds the route (router), refuses it if it is not allowed (guard, gate), reads query and
 * body (request), lets the route's handler fill in the answer (response, problem) and sends it (send), at
 * once or as a stream of events (stream). Work that would block the thread goes to background; a request that
 * waits is parked.
 *
 * May call access, runs (streams follow the event log), formats, system and core. The caller passes in the
 * table of routes with their handlers: nothing here knows the API. Called by api and commands. */
#ifndef ATTNLAB_SERVER_HTTP_HTTP_H
#define ATTNLAB_SERVER_HTTP_HTTP_H

#include "server/http/context.h"

struct http;

/* Listens on `listen` ("127.0.0.1:8080", "[::1]:0"); `context` is borrowed. */
struct http *http_start(struct http_context *context, const char *listen, struct error *error);
/* "http://127.0.0.1:8080/", with the actual port. */
const char *http_url(const struct http *http);
/* Ends every connection. The context must be draining. */
void http_stop(struct http *http);

#endif
