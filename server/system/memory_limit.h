/* The memory that runs may take. A run that would take more is refused before it is created. */
#ifndef ATTNLAB_SERVER_SYSTEM_MEMORY_LIMIT_H
#define ATTNLAB_SERVER_SYSTEM_MEMORY_LIMIT_H

/* Half of the machine's memory, or of the container's if that is less, in bytes. */
unsigned long long memory_limit_default(void);

/* The limit of the control groups (version 1 or 2) that this process is in, in bytes; ~0 if there is none.
 * `root` is where /proc and /sys are: "" except in tests. */
unsigned long long memory_limit_of_container(const char *root);

#endif
