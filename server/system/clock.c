/* The two clocks: see clock.h. */
#include "server/system/clock.h"

#include <stdio.h>
#include <time.h>

static double read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double clock_seconds(void) {
    return read_clock(CLOCK_MONOTONIC);
}

double clock_thread_seconds(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_wall_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_format_rfc3339(int64_t milliseconds, char text[32]) {
    time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + length, 32 - length, ".%03dZ", (int)(milliseconds % 1000));
}
