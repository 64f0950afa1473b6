/* Who may ask at all: checks that come before any handler, on the headers alone. */
#ifndef ATTNLAB_SERVER_HTTP_GUARD_H
#define ATTNLAB_SERVER_HTTP_GUARD_H

#include "server/http/request.h"

/* Sets a problem and returns false where the request is refused. `method` and `version` ("HTTP/1.1") are the
 * request's. */
bool guard_check(struct request *request, enum method method, const char *version);

#endif
