/* Starts a helper, sends it its input, reads its answer and waits for its end: see helper_program.h. */
#include "server/system/helper_program.h"

#include "server/system/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    READ_SIZE = 65536,
    STOP_MILLISECONDS = 100, /* the longest delay before a stop request is noticed */
    LONGEST_NAP = 20,        /* milliseconds between two checks whether the helper has ended */
    PARENT_SIZE = 48,
    EXIT_NOT_STARTED = 127 /* the exit status if posix_spawn's child or the dynamic loader fails */
};

/* A running helper. */
struct helper {
    pid_t process;
    int output;      /* this process reads the answer from here */
    double deadline; /* by clock_seconds */
    const struct stop_request *stop;
};

bool helper_program_find(const char *name, char *path, size_t size, struct error *error) {
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length <= 0 || (size_t)length >= size)
        return error_set(error, ERROR_UNAVAILABLE, "cannot find the program %s: %s", name,
                         length < 0 ? strerror(errno) : "the path is too long");
    path[length] = '\0';
    char *folder_end = strrchr(path, '/') + 1;
    size_t room = size - (size_t)(folder_end - path);
    if ((size_t)snprintf(folder_end, room, "%s", name) >= room)
        return error_set(error, ERROR_UNAVAILABLE, "the path of the program %s is too long", name);
    return true;
}

/* Returns a file in memory with these bytes; -1 on failure. */
static int make_input(const char *bytes, size_t size, struct error *error) {
    int input = memfd_create("attnlab-input", MFD_CLOEXEC);
    size_t written = 0;
    while (input >= 0 && written < size) {
        ssize_t count = write(input, bytes + written, size - written);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        written += (size_t)count;
    }
    if (input >= 0 && written == size && lseek(input, 0, SEEK_SET) == 0)
        return input;
    error_set(error, ERROR_UNAVAILABLE, "cannot create a file in memory: %s", strerror(errno));
    if (input >= 0)
        close(input);
    return -1;
}

/* The environment has only this process's id and the search path for libraries, because other variables would
 * change what HDF5 does. */
static void choose_environment(char parent[PARENT_SIZE], char *environment[3]) {
    static const char libraries[] = "LD_LIBRARY_PATH=";
    snprintf(parent, PARENT_SIZE, "%s=%ld", HELPER_PROGRAM_PARENT, (long)getpid());
    environment[0] = parent;
    environment[1] = environment[2] = NULL;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        if (strncmp(*variable, libraries, sizeof libraries - 1) == 0)
            environment[1] = *variable;
}

/* Gives the helper its descriptors 0 and 1 and closes all others but standard error, because a library may
 * have opened one without O_CLOEXEC. */
static int add_descriptors(posix_spawn_file_actions_t *actions, int input, int output) {
    int failure = posix_spawn_file_actions_adddup2(actions, input, STDIN_FILENO);
    if (failure == 0)
        failure = posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO);
#if HELPER_PROGRAM_CLOSES_DESCRIPTORS
    if (failure == 0)
        failure = posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
    return failure;
}

/* The helper is in its own process group, so that it does not get the terminal's Ctrl-C, which this process
 * handles. It ignores and blocks no signals. Returns 0, or an error number. */
static int spawn(const struct helper_program *program, int input, int output, pid_t *process) {
    char *arguments[] = {(char *)program->path, (char *)program->argument, NULL};
    char parent[PARENT_SIZE], *environment[3];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    choose_environment(parent, environment);
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return failure;
    failure = posix_spawnattr_init(&attributes);
    if (failure == 0) {
        failure = add_descriptors(&actions, input, output);
        posix_spawnattr_setflags(&attributes,
                                 POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        if (failure == 0)
            failure = posix_spawn(process, program->path, &actions, &attributes, arguments, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

static bool start(struct helper *helper, const struct helper_program *program, const void *bytes, size_t size,
                  struct error *error) {
    int ends[2];
    int input = make_input(bytes, size, error);
    if (input < 0)
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error_set(error, ERROR_UNAVAILABLE, "cannot create a pipe: %s", strerror(errno));
        close(input);
        return false;
    }
    int failure = spawn(program, input, ends[1], &helper->process);
    close(input);
    close(ends[1]);
    helper->output = ends[0];
    if (failure == 0)
        return true;
    close(ends[0]);
    return error_set(error, ERROR_UNAVAILABLE, "cannot start %s: %s", program->path, strerror(failure));
}

/* Whether the helper may continue: no stop was requested, and its deadline has not passed. */
static bool may_go_on(const struct helper *helper, struct error *error) {
    if (stop_is_requested(helper->stop))
        return error_set(error, ERROR_CANCELLED, "the reader was cancelled");
    return clock_seconds() < helper->deadline;
}

/* Reads until the helper closes its end of the pipe. Returns false if the helper may not continue, if it
 * wrote more than `limit`, or if this process failed; then `error` is set. */
static bool collect_answer(const struct helper *helper, unsigned long long limit, char **bytes, size_t *size,
                           struct error *error) {
    size_t capacity = 0;
    for (;;) {
        if (*size == capacity) {
            capacity = 2 * capacity + READ_SIZE;
            char *grown = realloc(*bytes, capacity);
            if (grown == NULL)
                return error_set_memory(error, capacity);
            *bytes = grown;
        }
        if (!may_go_on(helper, error))
            return false;
        struct pollfd ready = {.fd = helper->output, .events = POLLIN};
        int count = poll(&ready, 1, STOP_MILLISECONDS);
        if (count == 0)
            continue;
        ssize_t got = count > 0 ? read(helper->output, *bytes + *size, capacity - *size) : -1;
        if (got < 0 && errno != EINTR)
            return error_set(error, ERROR_INTERNAL, "cannot read from a helper: %s", strerror(errno));
        if (got == 0)
            return true;
        *size += got > 0 ? (size_t)got : 0;
        if (*size > limit)
            return false;
    }
}

/* Waits until the helper has ended; kills it if it may not continue. Returns its status as from waitpid. */
static int wait_for_end(const struct helper *helper, bool is_complete, struct error *error) {
    int status = -1, nap = 1;
    while (is_complete && waitpid(helper->process, &status, WNOHANG) == 0) {
        is_complete = may_go_on(helper, error);
        poll(NULL, 0, nap);
        nap = nap < LONGEST_NAP ? 2 * nap : LONGEST_NAP;
    }
    if (is_complete)
        return status;
    kill(helper->process, SIGKILL);
    while (waitpid(helper->process, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

/* Says how a helper failed that ran to its own end or was killed here. */
static bool set_failure(const struct helper_program *program, int status, bool is_late, bool is_long,
                        struct error *error) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_STARTED)
        return error_set(error, ERROR_UNAVAILABLE, "%s does not start; a library may be missing",
                         program->path);
    if (is_long)
        return error_set(error, ERROR_INVALID, "the reader's answer is too long");
    /* The kernel sends SIGXCPU and SIGKILL at the limit on processor time. */
    if (is_late || (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL)))
        return error_set(error, ERROR_INVALID, "the reader took too much time");
    if (WIFSIGNALED(status))
        return error_set(error, ERROR_INVALID, "the reader crashed (signal %d), perhaps for lack of memory",
                         WTERMSIG(status));
    return error_set(error, ERROR_INVALID, "the reader ended with status %d", WEXITSTATUS(status));
}

bool helper_program_run(const struct helper_program *program, const void *bytes, size_t size,
                        const struct stop_request *stop, void **answer, size_t *answer_size,
                        struct error *error) {
    struct helper helper = {.deadline = clock_seconds() + program->seconds, .stop = stop};
    char *output = NULL;
    size_t output_size = 0;
    if (!start(&helper, program, bytes, size, error))
        return false;
    struct error cause = {0};
    bool is_complete = collect_answer(&helper, program->answer, &output, &output_size, &cause);
    int status = wait_for_end(&helper, is_complete, &cause);
    close(helper.output);
    if (is_complete && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
        *answer = output;
        *answer_size = output_size;
        return true;
    }
    free(output);
    if (cause.code != ERROR_NONE)
        return error_set(error, cause.code, "%s", cause.message);
    return set_failure(program, status, clock_seconds() >= helper.deadline, output_size > program->answer,
                       error);
}
