/* What the service counts about itself, for GET /metrics. Thread-safe. */
#ifndef ATTNLAB_SERVER_HTTP_STATISTICS_H
#define ATTNLAB_SERVER_HTTP_STATISTICS_H

#include "server/formats/text.h"
#include "server/http/router.h"

#include "core/error.h"

struct statistics;

/* The table is borrowed: requests are counted by route. */
struct statistics *statistics_open(const struct route_table *table, struct error *error);
void statistics_close(struct statistics *statistics);

/* `route`: one of the table; NULL: a file, or no such path. `seconds` from the request's headers to its
 * answer. */
void statistics_count_request(struct statistics *statistics, const struct route *route, unsigned status,
                              double seconds);
/* Of bodies and answers, without headers. */
void statistics_add_bytes(struct statistics *statistics, size_t received, size_t sent);
/* An event stream began (+1) or ended (-1). */
void statistics_add_stream(struct statistics *statistics, int change);
long statistics_stream_count(struct statistics *statistics);
/* Prometheus' text format. */
void statistics_write(struct statistics *statistics, struct text *text);

#endif
