/* The time, by a monotonic clock and by the wall clock. */
#ifndef ATTNLAB_SERVER_SYSTEM_CLOCK_H
#define ATTNLAB_SERVER_SYSTEM_CLOCK_H

#include <stdint.h>

/* A monotonic clock in seconds, for durations and deadlines. */
double clock_seconds(void);

/* The processor time of the calling thread in seconds. */
double clock_thread_seconds(void);

/* Milliseconds since 1970. */
int64_t clock_wall_ms(void);
/* "2026-11-29T15:16:53.123Z" */
void clock_format_rfc3339(int64_t milliseconds, char text[32]);

#endif
