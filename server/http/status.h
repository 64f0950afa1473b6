/* The statuses of all answers, each with HTTP's own phrase. Problems take their title from here (RFC 9457
 * asks for that phrase with "about:blank"), and the statistics count each status. */
#ifndef ATTNLAB_SERVER_HTTP_STATUS_H
#define ATTNLAB_SERVER_HTTP_STATUS_H

#include <stddef.h>

enum { STATUS_COUNT = 22 };

struct status {
    unsigned code;
    const char *phrase;
};

/* The last one, 500, also counts every status that is not in the table. */
extern const struct status status_table[STATUS_COUNT];

/* The index of the status in the table. */
size_t status_find(unsigned code);

#endif
