/* The listening socket. */
#ifndef ATTNLAB_SERVER_HTTP_LISTEN_H
#define ATTNLAB_SERVER_HTTP_LISTEN_H

#include "core/error.h"

#include <stddef.h>

/* Binds and listens on "address:port" or "[address]:port"; port 0 takes a free one. Returns the socket and
 * writes the address as a URL with the port that was taken; -1 on failure. */
int http_listen(const char *listen, char *url, size_t url_size, struct error *error);

#endif
