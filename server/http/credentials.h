/* What a request shows of its caller: the token in its Authorization header, its cookies, its address. */
#ifndef ATTNLAB_SERVER_HTTP_CREDENTIALS_H
#define ATTNLAB_SERVER_HTTP_CREDENTIALS_H

#include "server/http/request.h"

/* The cookie of a lecturer who signed in. */
#define CREDENTIALS_SESSION_COOKIE "attnlab_session"

/* Borrowed from the request. */
void credentials_read(const struct request *request, struct credentials *credentials);

/* Adds Set-Cookie with a session; NULL takes the cookie away. */
void credentials_set_session(struct request *request, const char *session);
/* Gives a browser that has none the cookie by which it owns what it makes. */
void credentials_set_owner(struct request *request);

#endif
