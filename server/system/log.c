/* Lines on standard error: see log.h. */
#include "server/system/log.h"

#include "server/system/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *const log_level_names[] = {"error", "warning", "info", "debug", NULL};

void log_write(enum log_level wanted, enum log_level level, const char *format, ...) {
    char line[1024];
    char now[32];
    if (level > wanted)
        return;
    clock_format_rfc3339(clock_wall_ms(), now);
    int head = snprintf(line, sizeof line, "%s %s ", now, log_level_names[level]);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + head, sizeof line - (size_t)head - 1, format, arguments);
    va_end(arguments);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' ||
            *c == 0x7f) /* no control character breaks the line or reaches a terminal */
            *c = '?';
    size_t length = strlen(line);
    line[length++] = '\n';
    /* If the log cannot be written, there is nowhere to report it. */
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written;
}
