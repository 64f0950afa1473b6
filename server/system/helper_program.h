/* Processes untrusted bytes in a separate program.
 *
 * A library that parses hostile files may crash, loop or use up the memory; in a separate program that harms
 * nothing else. posix_spawn starts the helper, so it has no copy of this process's memory. It gets the bytes
 * as a file on standard input, answers on standard output, and inherits only standard error. It restricts
 * itself with sandbox.h; this module limits its time and the size of its answer. */
#ifndef ATTNLAB_SERVER_SYSTEM_HELPER_PROGRAM_H
#define ATTNLAB_SERVER_SYSTEM_HELPER_PROGRAM_H

#include "core/error.h"
#include "core/stop_request.h"

#include <features.h>
#include <stddef.h>

/* 1 if the helper starts with descriptors 0 to 2 only. Otherwise (the C library cannot close the rest before
 * the helper starts) it also has those without O_CLOEXEC, until sandbox_enter closes them. */
#if defined(__GLIBC_PREREQ)
#define HELPER_PROGRAM_CLOSES_DESCRIPTORS __GLIBC_PREREQ(2, 34)
#else
#define HELPER_PROGRAM_CLOSES_DESCRIPTORS 0
#endif

/* The environment variable that tells the helper its parent's process id, for sandbox.h. */
#define HELPER_PROGRAM_PARENT "ATTNLAB_PARENT"

struct helper_program {
    const char *path;
    const char *argument;      /* may be NULL */
    double seconds;            /* from its start to its end */
    unsigned long long answer; /* bytes that it may write */
};

/* Writes the path of the program `name` in the directory of the running program. ERROR_UNAVAILABLE if that
 * path is unknown or too long. */
bool helper_program_find(const char *name, char *path, size_t size, struct error *error);

/* Starts the program, gives it `bytes`, and waits until it has ended. *answer receives its output; release it
 * with free(). The program has ended when the call returns. ERROR_INVALID if it crashed, failed, took too
 * long or wrote too much; ERROR_CANCELLED if `stop` (may be NULL) requested it; ERROR_UNAVAILABLE if the
 * program cannot be started. Thread-safe. */
bool helper_program_run(const struct helper_program *program, const void *bytes, size_t size,
                        const struct stop_request *stop, void **answer, size_t *answer_size,
                        struct error *error);

#endif
