/* The gate: asks access whether a request's caller may do what its route does, and answers whoever may not.
 */
#ifndef ATTNLAB_SERVER_HTTP_GATE_H
#define ATTNLAB_SERVER_HTTP_GATE_H

#include "server/http/request.h"

/* By the headers alone, on the HTTP thread: fills in request->caller; a 401, 403 or 429 and false if the
 * route may not be used. */
bool gate_check(struct request *request);
/* What gate_check left open: whether the caller owns what the path names. Reads the store. */
bool gate_check_owner(struct request *request);
/* Whether the caller may cancel and delete what belongs to `owner`. */
bool gate_owns(const struct request *request, const char *owner);
/* The answer to a token that was not taken. */
void gate_refuse_token(struct request *request, const struct error *error);

#endif
