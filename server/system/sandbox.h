/* The rights that a program gives up before it reads the first byte of a hostile file. */
#ifndef ATTNLAB_SERVER_SYSTEM_SANDBOX_H
#define ATTNLAB_SERVER_SYSTEM_SANDBOX_H

#include <stdbool.h>

struct sandbox_limits {
    unsigned seconds;          /* of processor time */
    unsigned long long memory; /* bytes that the process may allocate in addition to those it has */
    long parent;               /* the process that started this one; 0: unknown */
};

/* From now on the process has only the standard descriptors and cannot open others. It cannot write a file or
 * a core dump, or start a process or thread (unless it runs as root). It is subject to the limits, and it is
 * killed when the thread that started it ends. No other process of the same user can look into it. So it must
 * open its files before this call. Returns false if the system refused any of this, or if the parent has
 * ended already. */
bool sandbox_enter(const struct sandbox_limits *limits);

#endif
