/* Ids that sort by time: the milliseconds first, then random bits. */
#include "server/system/identifier.h"

#include "server/system/clock.h"
#include "server/system/random_text.h"

#include <stdatomic.h>

enum { TIME_CHARACTERS = 10, RANDOM_CHARACTERS = 16 };

/* A timestamp that strictly increases even if the clock stands still or is set back. It is shared by the
 * whole process, in which ids must be unique. */
static int64_t next_stamp(void) {
    static _Atomic int64_t newest;
    int64_t now = clock_wall_ms(), previous = atomic_load(&newest), stamp;
    do
        stamp = now > previous ? now : previous + 1;
    while (!atomic_compare_exchange_weak(&newest, &previous, stamp));
    return stamp;
}

bool identifier_create(char id[ID_SIZE], struct error *error) {
    if (!random_text_write(id + TIME_CHARACTERS, RANDOM_CHARACTERS, error))
        return false;
    int64_t stamp = next_stamp();
    for (int i = TIME_CHARACTERS - 1; i >= 0; i--, stamp >>= 5)
        id[i] = random_text_alphabet[stamp & 31];
    id[ID_SIZE - 1] = '\0';
    return true;
}
