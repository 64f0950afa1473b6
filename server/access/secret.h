/* Random texts that nobody can guess, and nettle's SHA-256 digests, which are kept in memory and in the store
 * in their place. Compare digests with nettle's memeql_sec: it takes the same time wherever they differ. */
#ifndef ATTNLAB_SERVER_ACCESS_SECRET_H
#define ATTNLAB_SERVER_ACCESS_SECRET_H

#include "core/error.h"

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    SECRET_SIZE = 33, /* 32 characters of 5 random bits each, and the terminator */
    SECRET_DIGEST_SIZE = SHA256_DIGEST_SIZE,
    SECRET_DIGEST_TEXT_SIZE = 2 * SHA256_DIGEST_SIZE + 1
};

/* Makes a new secret. ERROR_UNAVAILABLE if the system provides no random numbers. */
bool secret_create(char secret[SECRET_SIZE], struct error *error);
/* Whether a text has the form of a secret. It need not be one that attnlab has made. */
bool secret_is_well_formed(const char *text);
void secret_digest(const void *bytes, size_t size, unsigned char digest[SECRET_DIGEST_SIZE]);
/* The digest of a text under a key, HMAC (RFC 2104) in lower-case hexadecimal: nobody without the key can
 * find the text by trying out all. */
void secret_digest_keyed(const char *key, const char *message, char text[SECRET_DIGEST_TEXT_SIZE]);
/* The digest in lower-case hexadecimal. */
void secret_digest_text(const void *bytes, size_t size, char text[SECRET_DIGEST_TEXT_SIZE]);

#endif
