/* The memory of the machine or the container: see memory_limit.h. */
#include "server/system/memory_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Used if the size of the memory cannot be determined. */
static const unsigned long long otherwise_bytes = 1ull << 31;

static unsigned long long machine_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_size > 0 ? (unsigned long long)pages * (unsigned long long)page_size
                                      : otherwise_bytes;
}

/* A container's limit is that of its control group, which it sees as the root. "max" or no file means no
 * limit. */
static unsigned long long container_bytes(void) {
    char text[32] = "";
    FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
    if (!file)
        return ~0ull;
    unsigned long long bytes = fgets(text, sizeof text, file) ? strtoull(text, NULL, 10) : 0;
    fclose(file);
    return bytes > 0 ? bytes : ~0ull;
}

unsigned long long memory_limit_default(void) {
    unsigned long long machine = machine_bytes();
    unsigned long long container = container_bytes();
    return (container < machine ? container : machine) / 2;
}
