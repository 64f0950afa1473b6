/* Random characters that nobody can guess, for ids and secrets. */
#ifndef ATTNLAB_SERVER_SYSTEM_RANDOM_TEXT_H
#define ATTNLAB_SERVER_SYSTEM_RANDOM_TEXT_H

#include "core/error.h"

#include <stddef.h>

/* Base 32: Crockford's alphabet, in lower case. */
extern const char random_text_alphabet[33];

/* Writes `length` random characters of the alphabet, of 5 bits each, without a terminator. ERROR_UNAVAILABLE
 * if the system gives no random numbers. */
bool random_text_write(char *text, size_t length, struct error *error);

#endif
