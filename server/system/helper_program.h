/* Work on untrusted bytes in a program of its own.
 *
 * A library that parses hostile files may crash, loop or ask for all memory; in a program of its own that
 * costs nobody anything. The helper is started by posix_spawn, so nothing of this process is in its memory.
 * It has the bytes as a file on standard input, answers on standard output, and inherits nothing else but
 * standard error. It limits itself by sandbox.h; time and the size of the answer are limited here. */
#ifndef ATTNLAB_SERVER_SYSTEM_HELPER_PROGRAM_H
#define ATTNLAB_SERVER_SYSTEM_HELPER_PROGRAM_H

#include "core/error.h"
#include "core/stop_request.h"

#include <stddef.h>

struct helper_program {
    const char *path;
    const char *argument;      /* may be NULL */
    double seconds;            /* from its start to its end */
    unsigned long long answer; /* bytes it may hand back */
};

/* Writes the path of the program `name` that is installed beside this one. ERROR_UNAVAILABLE if the path of
 * this program is not known or too long. */
bool helper_program_find(const char *name, char *path, size_t size, struct error *error);

/* Starts the program, gives it `bytes`, and waits until it has ended; *answer is what it wrote, released with
 * free(). Whatever happens, it does not outlive the call. Errors: ERROR_INVALID if it crashed, failed, took
 * too long or wrote too much; ERROR_CANCELLED if `stop` (may be NULL) said so; ERROR_UNAVAILABLE if it cannot
 * be started. Thread-safe. */
bool helper_program_run(const struct helper_program *program, const void *bytes, size_t size,
                        const struct stop_request *stop, void **answer, size_t *answer_size,
                        struct error *error);

#endif
