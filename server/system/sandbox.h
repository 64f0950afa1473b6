/* What a program that parses hostile files gives up before it reads the first byte. */
#ifndef ATTNLAB_SERVER_SYSTEM_SANDBOX_H
#define ATTNLAB_SERVER_SYSTEM_SANDBOX_H

#include <stdbool.h>

struct sandbox_limits {
    unsigned seconds;          /* of processor time */
    unsigned long long memory; /* bytes that the process may allocate beyond what it has */
};

/* From here on the process has no descriptors but the standard ones and gets no more, writes no file and no
 * core, starts no process or thread (unless it is root's), is held to the limits, and ends with the thread
 * that started it. What it has to open, it opens before. False if the system refused any of it. */
bool sandbox_enter(const struct sandbox_limits *limits);

#endif
