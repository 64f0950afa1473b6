/* The HTTP side of the daemon: one thread of libmicrohttpd that serves every connection. */
#ifndef ATTNLAB_SERVER_HTTP_HTTP_H
#define ATTNLAB_SERVER_HTTP_HTTP_H

#include "core/error.h"

struct http;
struct service;

/* Listens on `listen` ("127.0.0.1:8080", "[::1]:0"); `service` is borrowed. */
struct http *http_start(struct service *service, const char *listen, struct error *error);
/* "http://127.0.0.1:8080/", with the port that was taken. */
const char *http_url(const struct http *http);
/* Ends every connection. The service must be draining and its background threads still run. */
void http_stop(struct http *http);

#endif
