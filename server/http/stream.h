/* Server-sent events: the event log as one client follows it.
 *
 * A stream is a cursor into the shared log and the event that is being sent; events are never copied for a
 * client. A slow client holds back only its own cursor: its socket's buffer fills, and if it reads nothing
 * for a minute, the server's idle limit disconnects it. It can resume with Last-Event-ID. */
#ifndef ATTNLAB_SERVER_HTTP_STREAM_H
#define ATTNLAB_SERVER_HTTP_STREAM_H

#include "core/error.h"
#include "server/http/parking.h"
#include "server/http/statistics.h"
#include "server/runs/event_log.h"
#include "server/runs/runs.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

struct event_stream;

/* The sources and counters that all streams share; borrowed. */
struct event_source {
    struct event_log *log;
    struct runs *runs; /* tells whether a run has ended */
    struct parking *parking;
    struct statistics *statistics;
    const atomic_bool *is_draining; /* when set, every stream says goodbye */
};

/* Creates a stream of the events after `cursor`: those of a run, or of all runs if run_id is "". The source
 * is borrowed. Returns NULL when out of memory. */
struct event_stream *event_stream_create(const struct event_source *source, struct MHD_Connection *connection,
                                         const char *run_id, uint64_t cursor, struct error *error);
void event_stream_free(struct event_stream *stream);

/* libmicrohttpd's callbacks. */
ssize_t event_stream_read(void *stream, uint64_t position, char *buffer, size_t size);
void event_stream_free_callback(void *stream);

#endif
