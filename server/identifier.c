/* Ids that sort by time: the milliseconds first, then random bits. */
#include "server/identifier.h"

#include "server/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

enum { TIME_CHARACTERS = 10, RANDOM_CHARACTERS = 16 };

/* Strictly increasing even where the clock stands still or is set back. The only state of the process that
 * all share: ids have to be unique in it. */
static int64_t next_stamp(void) {
    static _Atomic int64_t newest;
    int64_t now = clock_wall_ms(), previous = atomic_load(&newest), stamp;
    do
        stamp = now > previous ? now : previous + 1;
    while (!atomic_compare_exchange_weak(&newest, &previous, stamp));
    return stamp;
}

bool identifier_create(char id[ID_SIZE], struct error *error) {
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    unsigned char random[RANDOM_CHARACTERS];
    ssize_t got;
    do
        got = getrandom(random, sizeof random, 0);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof random)
        return error_set(error, ERROR_UNAVAILABLE, "the system gives no random numbers: %s", strerror(errno));
    int64_t stamp = next_stamp();
    for (int i = TIME_CHARACTERS - 1; i >= 0; i--, stamp >>= 5)
        id[i] = alphabet[stamp & 31];
    for (int i = 0; i < RANDOM_CHARACTERS; i++)
        id[TIME_CHARACTERS + i] = alphabet[random[i] & 31];
    id[ID_SIZE - 1] = '\0';
    return true;
}
