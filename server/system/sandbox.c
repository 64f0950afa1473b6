/* Restricts the process: see sandbox.h. */
#include "server/system/sandbox.h"

#include "server/system/sanitizer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The numbers in /proc/self/statm, in pages, that RLIMIT_AS and RLIMIT_DATA count. */
enum { STATM_SIZE = 128, STATM_SPACE_FIELD = 1, STATM_DATA_FIELD = 6 };

/* The bytes that the process has now, by the field that counts them. 0 if it cannot be read. */
static unsigned long long count_memory(int wanted_field) {
    char text[STATM_SIZE] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    char *at = fgets(text, sizeof text, file), *end = at;
    fclose(file);
    unsigned long long pages = 0;
    for (int field = 0; at != NULL && field < wanted_field; field++, at = end)
        pages = strtoull(at, &end, 10);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* Calls the system call by number, because not every C library has a function for it. Linux before 5.9 lacks
 * the call; there, descriptors that the parent left open stay open. */
static bool close_all_but_standard(void) {
    return syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0 || errno == ENOSYS;
}

bool sandbox_enter(const struct sandbox_limits *limits) {
    unsigned long long private_memory = count_memory(STATM_DATA_FIELD);
    unsigned long long address_space = count_memory(STATM_SPACE_FIELD);
    const struct rlimit nothing = {0, 0};
    const struct rlimit seconds = {limits->seconds, limits->seconds};
    const struct rlimit memory = {private_memory + limits->memory, private_memory + limits->memory};
    const struct rlimit space = {address_space + limits->memory, address_space + limits->memory};
    if (private_memory == 0 || address_space == 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return false;
    /* A parent that ended before that call sends no signal any more. */
    if (limits->parent != 0 && getppid() != limits->parent)
        return false;
    return prctl(PR_SET_DUMPABLE, 0) == 0 && close_all_but_standard() &&
           (IS_SANITIZED || setrlimit(RLIMIT_AS, &space) == 0) && setrlimit(RLIMIT_DATA, &memory) == 0 &&
           setrlimit(RLIMIT_CPU, &seconds) == 0 && setrlimit(RLIMIT_CORE, &nothing) == 0 &&
           setrlimit(RLIMIT_FSIZE, &nothing) == 0 && setrlimit(RLIMIT_NPROC, &nothing) == 0 &&
           setrlimit(RLIMIT_NOFILE, &nothing) == 0;
}
