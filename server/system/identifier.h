/* Ids for runs, comparisons and whatever else is created. */
#ifndef ATTNLAB_SERVER_SYSTEM_IDENTIFIER_H
#define ATTNLAB_SERVER_SYSTEM_IDENTIFIER_H

#include "core/error.h"

enum { ID_SIZE = 27 }; /* 26 characters and the terminator */

/* A new id: 26 characters of base 32 (Crockford's alphabet, in lower case): 50 bits of milliseconds since
 * 1970, then 80 random bits. Ids of one process sort in the order in which they were made and cannot be
 * guessed. ERROR_UNAVAILABLE if the system gives no random bytes. */
bool identifier_create(char id[ID_SIZE], struct error *error);

#endif
