/* How much memory runs may take: one that would take more is refused before it is made. */
#ifndef ATTNLAB_SERVER_SYSTEM_MEMORY_LIMIT_H
#define ATTNLAB_SERVER_SYSTEM_MEMORY_LIMIT_H

/* Half of the machine's memory, or of the container's where that has less. In bytes. */
unsigned long long memory_limit_default(void);

#endif
