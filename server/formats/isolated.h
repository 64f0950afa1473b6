/* Work on untrusted bytes in a process of its own.
 *
 * A library that parses hostile files may crash, loop or ask for all memory; in a child process that costs
 * nobody anything. The child is a fork, so it sees what the caller has in memory; it can open no file, has a
 * limit on time and memory, and hands back bytes through a pipe. */
#ifndef ATTNLAB_SERVER_FORMATS_ISOLATED_H
#define ATTNLAB_SERVER_FORMATS_ISOLATED_H

#include "core/error.h"

#include <stddef.h>

struct isolated_limits {
    unsigned seconds;          /* of wall-clock and of processor time */
    unsigned long long memory; /* bytes that the child may allocate beyond what the caller has */
    unsigned long long output; /* bytes it may hand back */
};

/* Called in the child: writes its answer to the file descriptor `output` by isolated_write. What it changes
 * in memory is lost. It must start no thread, and use no library that the program uses outside of children.
 */
typedef void isolated_work(void *argument, int output);

/* Runs `work`; *bytes is what it wrote, released with free(). ERROR_INVALID where the child died, took too
 * long or wrote too much. Thread-safe. */
bool isolated_run(isolated_work *work, void *argument, const struct isolated_limits *limits, void **bytes,
                  size_t *size, struct error *error);

/* Writes all of it; ends the child where the caller has gone. */
void isolated_write(int output, const void *bytes, size_t size);

#endif
