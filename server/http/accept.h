/* Which of two media types a client's Accept header prefers (RFC 9110, section 12.5.1). */
#ifndef ATTNLAB_SERVER_HTTP_ACCEPT_H
#define ATTNLAB_SERVER_HTTP_ACCEPT_H

#include <stdbool.h>

/* Whether `type` is wanted more than `usual`: by its weight, by how exactly it is named, or by being named
 * first. `accept` may be NULL: then nothing is wanted more than the usual. */
bool accept_prefers(const char *accept, const char *type, const char *usual);

#endif
