/* Texts that nobody can guess, and comparing them so that time tells nothing. */
#ifndef ATTNLAB_SERVER_ACCESS_SECRET_H
#define ATTNLAB_SERVER_ACCESS_SECRET_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { SECRET_SIZE = 33 }; /* 32 characters of 5 random bits each, and the terminator */

/* Writes `length` random characters of base 32 (Crockford's alphabet, in lower case), without a terminator.
 * ERROR_UNAVAILABLE where the system gives no random numbers. */
bool secret_write(char *text, size_t length, struct error *error);
extern const char secret_alphabet[33];
bool secret_create(char secret[SECRET_SIZE], struct error *error);
/* Whether a text has the form of one; says nothing of whether it is known. */
bool secret_is_well_formed(const char *text);
/* Looks at all bytes whether or not they differ. */
bool secret_equals(const void *first, const void *second, size_t size);

#endif
