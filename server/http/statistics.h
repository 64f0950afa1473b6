/* Counters of the service for GET /metrics. Thread-safe. */
#ifndef ATTNLAB_SERVER_HTTP_STATISTICS_H
#define ATTNLAB_SERVER_HTTP_STATISTICS_H

#include "server/formats/text.h"
#include "server/http/router.h"

#include "core/error.h"

struct statistics;

/* Counts requests by the routes of this table, which is borrowed. */
struct statistics *statistics_open(const struct route_table *table, struct error *error);
void statistics_close(struct statistics *statistics);

/* `route` is one of the table's, or NULL for a file or an unknown path. `seconds` is the time from the
 * request's headers to its answer. */
void statistics_count_request(struct statistics *statistics, const struct route *route, unsigned status,
                              double seconds);
/* The bytes of bodies and answers, without headers. */
void statistics_add_bytes(struct statistics *statistics, size_t received, size_t sent);
/* Counts a request that got no answer because its reader had left. */
void statistics_count_abandoned(struct statistics *statistics);
/* Counts an event stream that began (+1) or ended (-1). */
void statistics_add_stream(struct statistics *statistics, int change);
long statistics_stream_count(struct statistics *statistics);
/* Writes all counters in Prometheus' text format. */
void statistics_write(struct statistics *statistics, struct text *text);

#endif
