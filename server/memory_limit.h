/* How much memory one run may take: a run that would take more is refused before it is made. */
#ifndef ATTNLAB_SERVER_MEMORY_LIMIT_H
#define ATTNLAB_SERVER_MEMORY_LIMIT_H

/* Half of the machine's memory, or of the container's where that has less. In bytes. */
unsigned long long memory_limit_of_run(void);

#endif
