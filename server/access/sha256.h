/* SHA-256 as FIPS 180-4 specifies it: for comparing secrets and keeping what cannot be turned back. */
#ifndef ATTNLAB_SERVER_ACCESS_SHA256_H
#define ATTNLAB_SERVER_ACCESS_SHA256_H

#include <stddef.h>

enum { SHA256_SIZE = 32, SHA256_TEXT_SIZE = 65 };

void sha256(const void *bytes, size_t size, unsigned char digest[SHA256_SIZE]);
/* In lower-case hexadecimal. */
void sha256_write_text(const unsigned char digest[SHA256_SIZE], char text[SHA256_TEXT_SIZE]);

#endif
