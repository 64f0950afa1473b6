/* Random texts and digests: see secret.h. */
#include "server/access/secret.h"

#include <errno.h>
#include <nettle/base16.h>
#include <string.h>
#include <sys/random.h>

const char secret_alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

bool secret_write(char *text, size_t length, struct error *error) {
    ssize_t got;
    do
        got = getrandom(text, length, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)length)
        return error_set(error, ERROR_UNAVAILABLE, "the system gives no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < length; i++)
        text[i] = secret_alphabet[text[i] & 31];
    return true;
}

bool secret_create(char secret[SECRET_SIZE], struct error *error) {
    secret[SECRET_SIZE - 1] = '\0';
    return secret_write(secret, SECRET_SIZE - 1, error);
}

bool secret_is_well_formed(const char *text) {
    return strlen(text) == SECRET_SIZE - 1 && strspn(text, secret_alphabet) == SECRET_SIZE - 1;
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
