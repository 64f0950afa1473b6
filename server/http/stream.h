/* Server-sent events: the event log as one client follows it.
 *
 * A stream is a cursor into the shared log and the one event that is being sent; events are never copied for
 * a client. A client that reads slowly holds back only its own cursor: its socket's buffer fills, and one
 * that takes nothing for a minute is disconnected by the server's idle limit. It resumes with Last-Event-ID.
 */
#ifndef ATTNLAB_SERVER_HTTP_STREAM_H
#define ATTNLAB_SERVER_HTTP_STREAM_H

#include "core/error.h"

#include <microhttpd.h>
#include <stdint.h>
#include <sys/types.h>

struct event_stream;
struct request;

/* A stream of the events after `cursor`: of a run, or of all (run_id ""). NULL when out of memory. */
struct event_stream *event_stream_create(struct request *request, const char *run_id, uint64_t cursor,
                                         struct error *error);
void event_stream_free(struct event_stream *stream);

/* libmicrohttpd's callbacks. */
ssize_t event_stream_read(void *stream, uint64_t position, char *buffer, size_t size);
void event_stream_free_callback(void *stream);

#endif
