/* Random texts and digests: see secret.h. */
#include "server/access/secret.h"

#include "server/system/random_text.h"

#include <nettle/base16.h>
#include <nettle/hmac.h>
#include <string.h>

bool secret_create(char secret[SECRET_SIZE], struct error *error) {
    secret[SECRET_SIZE - 1] = '\0';
    return random_text_write(secret, SECRET_SIZE - 1, error);
}

bool secret_is_well_formed(const char *text) {
    return strlen(text) == SECRET_SIZE - 1 && strspn(text, random_text_alphabet) == SECRET_SIZE - 1;
}

void secret_digest(const void *bytes, size_t size, unsigned char digest[SECRET_DIGEST_SIZE]) {
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, SECRET_DIGEST_SIZE, digest);
}

static void write_digest(const unsigned char digest[SECRET_DIGEST_SIZE], char text[SECRET_DIGEST_TEXT_SIZE]) {
    base16_encode_update(text, SECRET_DIGEST_SIZE, digest);
    text[SECRET_DIGEST_TEXT_SIZE - 1] = '\0';
}

void secret_digest_text(const void *bytes, size_t size, char text[SECRET_DIGEST_TEXT_SIZE]) {
    unsigned char digest[SECRET_DIGEST_SIZE];
    secret_digest(bytes, size, digest);
    write_digest(digest, text);
}

void secret_digest_keyed(const char *key, const char *message, char text[SECRET_DIGEST_TEXT_SIZE]) {
    struct hmac_sha256_ctx context;
    unsigned char digest[SECRET_DIGEST_SIZE];
    hmac_sha256_set_key(&context, strlen(key), (const uint8_t *)key);
    hmac_sha256_update(&context, strlen(message), (const uint8_t *)message);
    hmac_sha256_digest(&context, sizeof digest, digest);
    write_digest(digest, text);
}
