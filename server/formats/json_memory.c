/* Allocations that wait for free memory: see json_memory.h. */
#include "server/formats/json_memory.h"

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

enum { ATTEMPTS = 200, PAUSE_NANOSECONDS = 5000000 };

static void *allocate(size_t size) {
    const struct timespec pause = {.tv_nsec = PAUSE_NANOSECONDS};
    void *memory = malloc(size);
    for (int attempt = 1; !memory && attempt < ATTEMPTS; attempt++) {
        nanosleep(&pause, NULL);
        memory = malloc(size);
    }
    return memory;
}

void json_memory_install(void) {
    json_set_alloc_funcs(allocate, free);
}
