/* The system's random bytes, written in base 32: see random_text.h. */
#include "server/system/random_text.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

const char random_text_alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";

bool random_text_write(char *text, size_t length, struct error *error) {
    ssize_t got;
    do
        got = getrandom(text, length, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)length)
        return error_set(error, ERROR_UNAVAILABLE, "cannot get random numbers from the system: %s",
                         strerror(errno));
    for (size_t i = 0; i < length; i++)
        text[i] = random_text_alphabet[text[i] & 31];
    return true;
}
