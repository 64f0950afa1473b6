/* Random texts and digests: see secret.h. */
#include "server/access/secret.h"

#include "server/system/random_text.h"

#include <nettle/base16.h>
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

void secret_digest_text(const void *bytes, size_t size, char text[SECRET_DIGEST_TEXT_SIZE]) {
    unsigned char digest[SECRET_DIGEST_SIZE];
    secret_digest(bytes, size, digest);
    base16_encode_update(text, sizeof digest, digest);
    text[SECRET_DIGEST_TEXT_SIZE - 1] = '\0';
}
