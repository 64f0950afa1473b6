/* Conditional requests: If-None-Match (RFC 9110, 13.1.2). */
#ifndef ATTNLAB_SERVER_HTTP_CONDITIONAL_H
#define ATTNLAB_SERVER_HTTP_CONDITIONAL_H

#include <stdbool.h>

/* Whether the header names the entity tag `etag`, which may be NULL: "*" names whatever there is, and a list
 * names each of its tags, weak or not. */
bool conditional_matches(const char *if_none_match, const char *etag);

#endif
