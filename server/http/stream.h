/* Server-sent events: the event log as one client follows it.
 *
 * A stream is a cursor into the shared log and the one event that is being sent; events are never copied for
 * a client. A client that reads slowly holds back only its own cursor: its socket's buffer fills, and one
 * that takes nothing for a minute is disconnected by the server's idle limit. It resumes with Last-Event-ID.
 */
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

/* What all streams read from and tell of; borrowed. */
struct event_source {
    struct event_log *log;
    struct runs *runs; /* says when a run has ended */
    struct parking *parking;
    struct statistics *statistics;
    const atomic_bool *is_draining; /* then every stream says goodbye */
};

/* A stream on a connection of the events after `cursor`: of a run, or of all (run_id ""). The source is
 * borrowed. NULL when out of memory. */
struct event_stream *event_stream_create(const struct event_source *source, struct MHD_Connection *connection,
                                         const char *run_id, uint64_t cursor, struct error *error);
void event_stream_free(struct event_stream *stream);

/* libmicrohttpd's callbacks. */
ssize_t event_stream_read(void *stream, uint64_t position, char *buffer, size_t size);
void event_stream_free_callback(void *stream);

#endif
