/* Hashes data sets: see dataset_digest.h. */
#include "server/store/dataset_digest.h"

#include <nettle/base16.h>
#include <nettle/sha2.h>
#include <string.h>

void dataset_digest(const char *format, const void *bytes, size_t size, char digest[DATASET_DIGEST_SIZE]) {
    struct sha256_ctx hash;
    uint8_t sum[SHA256_DIGEST_SIZE];
    sha256_init(&hash);
    sha256_update(&hash, strlen(format) + 1, (const uint8_t *)format);
    sha256_update(&hash, size, bytes);
    sha256_digest(&hash, sizeof sum, sum);
    base16_encode_update(digest, sizeof sum, sum);
    digest[DATASET_DIGEST_SIZE - 1] = '\0';
}
