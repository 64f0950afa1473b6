/* Log lines on standard error:
 *
 *   2026-11-29T16:13:00.123Z info request=5f3a-12 GET /api/runs 200 1.2ms
 *
 * Thread-safe: each line is one write. Of a request's path only the known route is logged, never the user's
 * text. */
#ifndef ATTNLAB_SERVER_SYSTEM_LOG_H
#define ATTNLAB_SERVER_SYSTEM_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
extern const char *const log_level_names[]; /* ends with NULL */

/* Writes nothing if `level` is more detailed than `wanted`. */
void log_write(enum log_level wanted, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
