/* Restricts the process: see sandbox.h. */
#include "server/system/sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATM_SIZE = 128, STATM_DATA_FIELD = 6 };

/* The bytes of private memory that the process has now, as RLIMIT_DATA counts them: the sixth number in
 * /proc/self/statm, in pages. 0 if it cannot be read. */
static unsigned long long count_private_memory(void) {
    char text[STATM_SIZE] = "";
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return 0;
    char *at = fgets(text, sizeof text, file), *end = at;
    fclose(file);
    unsigned long long pages = 0;
    for (int field = 0; at != NULL && field < STATM_DATA_FIELD; field++, at = end)
        pages = strtoull(at, &end, 10);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

/* Calls the system call by number, because not every C library has a function for it. Linux before 5.9 lacks
 * the call; there, descriptors that the parent left open stay open. */
static bool close_all_but_standard(void) {
    return syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0 || errno == ENOSYS;
}

bool sandbox_enter(const struct sandbox_limits *limits) {
    unsigned long long private_memory = count_private_memory();
    const struct rlimit nothing = {0, 0};
    const struct rlimit seconds = {limits->seconds, limits->seconds};
    const struct rlimit memory = {private_memory + limits->memory, private_memory + limits->memory};
    return private_memory > 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && close_all_but_standard() &&
           setrlimit(RLIMIT_DATA, &memory) == 0 && setrlimit(RLIMIT_CPU, &seconds) == 0 &&
           setrlimit(RLIMIT_CORE, &nothing) == 0 && setrlimit(RLIMIT_FSIZE, &nothing) == 0 &&
           setrlimit(RLIMIT_NPROC, &nothing) == 0 && setrlimit(RLIMIT_NOFILE, &nothing) == 0;
}
