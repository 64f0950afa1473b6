/* Which of two media types a client's Accept header prefers (RFC 9110, section 12.5.1). */
#ifndef ATTNLAB_SERVER_HTTP_ACCEPT_H
#define ATTNLAB_SERVER_HTTP_ACCEPT_H

#include <stdbool.h>

/* Whether the client prefers `type` to `usual`: because of its weight, because a more exact range names it,
 * or because it comes first. If `accept` is NULL, `usual` is preferred. */
bool accept_prefers(const char *accept, const char *type, const char *usual);

#endif
