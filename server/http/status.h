/* The statuses that answers have, each with HTTP's own phrase. Problems take their title from here (RFC 9457
 * wants the phrase beside "about:blank"), and the statistics count each. */
#ifndef ATTNLAB_SERVER_HTTP_STATUS_H
#define ATTNLAB_SERVER_HTTP_STATUS_H

#include <stddef.h>

enum { STATUS_COUNT = 17 };

struct status {
    unsigned code;
    const char *phrase;
};

/* The last one, 500, stands for every status that is not in the table. */
extern const struct status status_table[STATUS_COUNT];

/* The status's place in the table. */
size_t status_find(unsigned code);

#endif
