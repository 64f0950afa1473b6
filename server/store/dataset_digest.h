/* The identity of a data set: its contents, neither its name nor the time at which it was added. */
#ifndef ATTNLAB_SERVER_STORE_DATASET_DIGEST_H
#define ATTNLAB_SERVER_STORE_DATASET_DIGEST_H

#include <stddef.h>

enum { DATASET_DIGEST_SIZE = 65 }; /* SHA-256 in hexadecimal, with the terminator */

/* The digest of a data set's format ("csv") and bytes: the same bytes read as another format are other
 * examples. */
void dataset_digest(const char *format, const void *bytes, size_t size, char digest[DATASET_DIGEST_SIZE]);

#endif
