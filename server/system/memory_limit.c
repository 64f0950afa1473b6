/* The memory of the machine or the container: see memory_limit.h. */
#include "server/system/memory_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 1024 };

/* Used if the size of the memory cannot be determined. */
static const unsigned long long otherwise_bytes = 1ull << 31;

static unsigned long long machine_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_size = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_size > 0 ? (unsigned long long)pages * (unsigned long long)page_size
                                      : otherwise_bytes;
}

/* The number in a file; without limit if there is none in it ("max") or no such file. */
static unsigned long long read_limit(const char *path) {
    char text[32] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return ~0ull;
    unsigned long long bytes = fgets(text, sizeof text, file) ? strtoull(text, NULL, 10) : 0;
    fclose(file);
    return bytes > 0 ? bytes : ~0ull;
}

/* The smallest limit of a control group and all above it. `folder` is where its hierarchy is mounted; the
 * group's path is shortened in place. In a container the folder may show only the container's own group, so
 * the path may lead nowhere until it is empty. */
static unsigned long long read_group_limit(const char *folder, char *group, const char *name) {
    unsigned long long smallest = ~0ull;
    for (;;) {
        char path[3 * PATH_SIZE], *last = strrchr(group, '/');
        snprintf(path, sizeof path, "%s%s/%s", folder, group, name);
        unsigned long long limit = read_limit(path);
        smallest = limit < smallest ? limit : smallest;
        if (last == NULL)
            return smallest;
        *last = '\0';
    }
}

/* A line of /proc/self/cgroup is "number:controllers:/path". Version 2 has one hierarchy, with number 0 and
 * no names of controllers; in version 1 memory has its own, perhaps shared with others. */
unsigned long long memory_limit_of_container(const char *root) {
    char path[PATH_SIZE], folder[PATH_SIZE], line[PATH_SIZE];
    unsigned long long smallest = ~0ull;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(++controllers, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        bool is_first = strcmp(controllers, "memory") == 0;
        if (!is_first && *controllers)
            continue;
        snprintf(folder, sizeof folder, "%s/sys/fs/cgroup%s", root, is_first ? "/memory" : "");
        unsigned long long limit =
            read_group_limit(folder, group, is_first ? "memory.limit_in_bytes" : "memory.max");
        smallest = limit < smallest ? limit : smallest;
    }
    if (file)
        fclose(file);
    return smallest;
}

unsigned long long memory_limit_default(void) {
    unsigned long long machine = machine_bytes();
    unsigned long long container = memory_limit_of_container("");
    return (container < machine ? container : machine) / 2;
}
