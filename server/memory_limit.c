/* The memory of the machine or the container: see memory_limit.h. */
#include "server/memory_limit.h"

#include <stdio.h>
#include <unistd.h>

/* Where no memory size can be learnt. */
static const unsigned long long otherwise_bytes = 1ull << 31;

static unsigned long long machine_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_size > 0 ? (unsigned long long)pages * (unsigned long long)page_size
                                      : otherwise_bytes;
}

/* A container's limit: its control group's, which it sees as the root. "max", or no file: none. */
static unsigned long long container_bytes(void) {
    unsigned long long bytes = 0;
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    if (!file) {
        return ~0ull;
    }
    if (fscanf(file, "%llu", &bytes) != 1 || bytes == 0) {
        bytes = ~0ull;
    }
    fclose(file);
    return bytes;
}

unsigned long long memory_limit_of_run(void) {
    unsigned long long machine = machine_bytes();
    unsigned long long container = container_bytes();
    return (container < machine ? container : machine) / 2;
}
