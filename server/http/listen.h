/* The listening socket. */
#ifndef ATTNLAB_SERVER_HTTP_LISTEN_H
#define ATTNLAB_SERVER_HTTP_LISTEN_H

#include "core/error.h"

#include <stddef.h>

/* Binds and listens on "address:port" or "[address]:port"; port 0 chooses a free port. Returns the socket and
 * writes the URL, with the actual port, to `url`; returns -1 on failure. */
int http_listen(const char *listen, char *url, size_t url_size, struct error *error);

#endif
