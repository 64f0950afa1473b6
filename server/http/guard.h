/* Checks that every request must pass before any handler runs; they look only at the headers. */
#ifndef ATTNLAB_SERVER_HTTP_GUARD_H
#define ATTNLAB_SERVER_HTTP_GUARD_H

#include "server/http/request.h"

/* Returns false after setting a problem if the request is refused. `method` is that of the request. */
bool guard_check(struct request *request, enum method method);

#endif
