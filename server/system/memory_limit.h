/* The memory that runs may take. A run that would take more is refused before it is created. */
#ifndef ATTNLAB_SERVER_SYSTEM_MEMORY_LIMIT_H
#define ATTNLAB_SERVER_SYSTEM_MEMORY_LIMIT_H

/* Half of the machine's memory, or of the container's if that is less, in bytes. */
unsigned long long memory_limit_default(void);

#endif
