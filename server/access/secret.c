/* Random texts and their comparison: see secret.h. */
#include "server/access/secret.h"

#include <errno.h>
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

bool secret_equals(const void *first, const void *second, size_t size) {
    const volatile unsigned char *a = first;
    const volatile unsigned char *b = second;
    unsigned char difference = 0;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}
