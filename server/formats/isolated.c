/* A child process for untrusted work: see isolated.h. */
#include "server/formats/isolated.h"

#include "server/system/clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_SIZE = 65536, STATM_SIZE = 128, STATM_DATA_FIELD = 6 };

/* Bytes of private memory that the process has now, which RLIMIT_DATA counts: the sixth number of
 * /proc/self/statm, in pages. 0 where it cannot be read. */
static unsigned long long count_private_memory(void) {
    char text[STATM_SIZE] = "";
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL)
        return 0;
    char *at = fgets(text, sizeof text, file), *end = at;
    fclose(file);
    unsigned long long pages = 0;
    for (int field = 0; at != NULL && field < STATM_DATA_FIELD; field++, at = end)
        pages = strtoull(at, &end, 10);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void set_limit(__rlimit_resource_t resource, unsigned long long value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    setrlimit(resource, &limit);
}

static _Noreturn void run_child(isolated_work *work, void *argument, const struct isolated_limits *limits,
                                unsigned long long private_memory, int output) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Nothing of the caller's stays open: a connection must end when the caller closes it. */
    if (dup2(output, STDOUT_FILENO) < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) != 0)
        _exit(EXIT_FAILURE);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_FSIZE, 0);
    set_limit(RLIMIT_NOFILE, 0);
    set_limit(RLIMIT_CPU, limits->seconds);
    if (private_memory > 0)
        set_limit(RLIMIT_DATA, private_memory + limits->memory);
    work(argument, STDOUT_FILENO);
    _exit(EXIT_SUCCESS);
}

void isolated_write(int output, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t written = write(output, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            _exit(EXIT_FAILURE);
        at += written;
        size -= (size_t)written;
    }
}

/* Reads until the child closes its end. False when the deadline or the limit is passed, or on a failure of
 * ours, which then is in `error`. */
static bool collect_output(int input, const struct isolated_limits *limits, char **bytes, size_t *size,
                           struct error *error) {
    double deadline = clock_seconds() + limits->seconds;
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = 2 * capacity + READ_SIZE;
            char *grown = realloc(*bytes, capacity);
            if (grown == NULL)
                return error_set_memory(error, capacity);
            *bytes = grown;
        }
        double left = deadline - clock_seconds();
        struct pollfd ready = {.fd = input, .events = POLLIN};
        int count = poll(&ready, 1, left > 0 ? (int)ceil(1000 * left) : 0);
        if (count == 0)
            return false;
        ssize_t got = count > 0 ? read(input, *bytes + *size, capacity - *size) : -1;
        if (got < 0 && errno != EINTR)
            return error_set(error, ERROR_INTERNAL, "reading from a child process failed: %s",
                             strerror(errno));
        if (got == 0)
            return true;
        *size += got > 0 ? (size_t)got : 0;
        if (*size > limits->output)
            return false;
    }
}

bool isolated_run(isolated_work *work, void *argument, const struct isolated_limits *limits, void **bytes,
                  size_t *size, struct error *error) {
    int ends[2];
    if (pipe(ends) != 0)
        return error_set(error, ERROR_UNAVAILABLE, "cannot make a pipe: %s", strerror(errno));
    unsigned long long private_memory = count_private_memory();
    pid_t child = fork();
    if (child == 0)
        run_child(work, argument, limits, private_memory, ends[1]);
    close(ends[1]);
    char *output = NULL;
    size_t output_size = 0;
    bool complete = child > 0 && collect_output(ends[0], limits, &output, &output_size, error);
    close(ends[0]);
    if (child < 0)
        return error_set(error, ERROR_UNAVAILABLE, "cannot start a child process: %s", strerror(errno));
    if (!complete)
        kill(child, SIGKILL);
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!complete || !WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) {
        free(output);
        return error_set(error, ERROR_INVALID, "reading it crashed or took too much time or memory");
    }
    *bytes = output;
    *size = output_size;
    return true;
}
