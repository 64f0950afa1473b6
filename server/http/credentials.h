/* The credentials of a request: the token in its Authorization header, its cookies, its address. */
#ifndef ATTNLAB_SERVER_HTTP_CREDENTIALS_H
#define ATTNLAB_SERVER_HTTP_CREDENTIALS_H

#include "server/http/request.h"

/* The session cookie of a lecturer who has signed in. */
#define CREDENTIALS_SESSION_COOKIE "attnlab_session"
/* The cookie of a browser that makes it the owner of its runs and data sets. */
#define CREDENTIALS_OWNER_COOKIE "attnlab_owner"

/* The texts are borrowed from the request. */
void credentials_read(const struct request *request, struct credentials *credentials);

/* Adds Set-Cookie with a session; NULL deletes the cookie. */
void credentials_set_session(struct request *request, const char *session);
/* Sets the owner cookie unless the browser already has one. It makes the browser the owner of its runs and
 * data sets. */
void credentials_set_owner(struct request *request);

#endif
