/* The gate: asks access whether the caller may use the route, and answers the request if not. */
#ifndef ATTNLAB_SERVER_HTTP_GATE_H
#define ATTNLAB_SERVER_HTTP_GATE_H

#include "server/http/request.h"

/* Checks the caller by the headers alone, on the HTTP thread, and fills in request->caller and
 * request->place. Returns false after a 401, 403, 429 or 503 if the caller may not use the route, or not now.
 */
bool gate_check(struct request *request);
/* Completes gate_check: checks that the caller owns the run, comparison or data set in the path. Reads the
 * store. */
bool gate_check_owner(struct request *request);
/* Whether the caller may cancel and delete things that belong to `owner`. */
bool gate_owns(const struct request *request, const char *owner);
/* Answers a request whose token was not accepted. */
void gate_refuse_token(struct request *request, const struct error *error);

#endif
