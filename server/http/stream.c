/* Writes events to one client in pieces: see stream.h. */
#include "server/http/stream.h"

#include "server/system/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PING_SECONDS = 15, EVENTS_AT_ONCE = 16, SOCKET_BUFFER = 32 << 10 };
static const double LOOK_SECONDS = 0.005;

struct event_stream {
    const struct event_source *source;
    struct parked parked;
    char run_id[ID_SIZE]; /* "" for all runs */
    uint64_t cursor;
    struct event *events[EVENTS_AT_ONCE]; /* not yet sent; the first is being sent */
    size_t event_count, event_index;
    size_t sent; /* bytes sent of the current event, including the empty line after it */
    double last_written;
    bool is_run_over;     /* the run has ended or was deleted, so the log gets no more of its events */
    bool must_look_again; /* the run has ended, but its last event may not be in the log yet */
    bool has_ended;
    bool has_failed; /* the stream breaks off, so that the client notices that the end is missing */
    bool has_said_goodbye;
};

static const char event_tail[] = "\n\n";
static const char ping[] = ": ping\n\n";
/* Tells the client to reconnect after this many milliseconds, with its last event id. */
static const char goodbye[] = ": the service is ending\nretry: 2000\n\n";

/* Limits the kernel memory for a client that stops reading; the buffer would otherwise grow to megabytes. */
static void bound_socket_buffer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    int size = SOCKET_BUFFER;
    if (info)
        setsockopt(info->connect_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
}

struct event_stream *event_stream_create(const struct event_source *source, struct MHD_Connection *connection,
                                         const char *run_id, uint64_t cursor, struct error *error) {
    struct event_stream *stream = calloc(1, sizeof *stream);
    if (!stream) {
        error_set_memory(error, sizeof *stream);
        return NULL;
    }
    stream->source = source;
    stream->cursor = cursor;
    snprintf(stream->run_id, sizeof stream->run_id, "%s", run_id);
    stream->parked.connection = connection;
    stream->parked.run_id = stream->run_id;
    stream->parked.is_patient = true;
    stream->last_written = -PING_SECONDS; /* sends the first ping at once, to open the line */
    bound_socket_buffer(connection);
    statistics_add_stream(stream->source->statistics, 1);
    return stream;
}

void event_stream_free(struct event_stream *stream) {
    if (!stream)
        return;
    for (size_t i = stream->event_index; i < stream->event_count; i++)
        event_release(stream->events[i]);
    statistics_add_stream(stream->source->statistics, -1);
    free(stream);
}

void event_stream_free_callback(void *stream) {
    event_stream_free(stream);
}

/* Copies as much as fits of a piece that begins at `*offset` of the event. */
static size_t copy_piece(const char *piece, size_t piece_size, size_t *offset, char *buffer, size_t size) {
    if (*offset >= piece_size) {
        *offset -= piece_size;
        return 0;
    }
    size_t copied = piece_size - *offset < size ? piece_size - *offset : size;
    memcpy(buffer, piece + *offset, copied);
    *offset = 0;
    return copied;
}

/* Continues the current event; moves to the next one when it has been written. */
static size_t write_event(struct event_stream *stream, char *buffer, size_t size) {
    struct event *event = stream->events[stream->event_index];
    size_t offset = stream->sent;
    size_t written = copy_piece(event->field, event->field_size, &offset, buffer, size);
    written += copy_piece(event_tail, sizeof event_tail - 1, &offset, buffer + written, size - written);
    stream->sent += written;
    if (stream->sent == event->field_size + sizeof event_tail - 1) {
        stream->has_ended = stream->run_id[0] && event->kind == EVENT_END;
        event_release(event);
        stream->event_index++;
        stream->sent = 0;
    }
    return written;
}

/* Fetches the events after the cursor; returns false if there are none. If the store fails, the stream breaks
 * off, and the client reconnects with its last event id. */
static bool fetch_events(struct event_stream *stream) {
    struct error error = {0};
    stream->event_index = stream->event_count = 0;
    const char *run_id = stream->run_id[0] ? stream->run_id : NULL;
    if (!event_log_read(stream->source->log, run_id, &stream->cursor, EVENTS_AT_ONCE, stream->events,
                        &stream->event_count, &error)) {
        stream->has_ended = stream->has_failed = true;
        return false;
    }
    return stream->event_count > 0;
}

/* A stream ends when its run has ended and all events have been sent. No event signals that if the client
 * already has the last one, or if the run was deleted. So this checks the run before the first event, and
 * again when no event has come for a while. A run's state may say that it has ended before its last event is
 * in the log; only when nothing is being published is that event certain to be read. */
static void look_at_run(struct event_stream *stream) {
    struct error error = {0};
    bool has_ended = false;
    if (!stream->run_id[0] || stream->is_run_over)
        return;
    if (runs_find_ended(stream->source->runs, stream->run_id, &has_ended, &error)) {
        stream->is_run_over = has_ended && event_log_is_settled(stream->source->log);
        stream->must_look_again = has_ended && !stream->is_run_over;
        return;
    }
    stream->is_run_over = true;
    stream->has_failed = error.code != ERROR_MISSING;
}

static size_t write_events(struct event_stream *stream, char *buffer, size_t size) {
    size_t written = 0;
    while (written < size && !stream->has_ended &&
           (stream->event_index < stream->event_count || fetch_events(stream)))
        written += write_event(stream, buffer + written, size - written);
    return written;
}

ssize_t event_stream_read(void *argument, uint64_t position, char *buffer, size_t size) {
    (void)position;
    struct event_stream *stream = argument;
    struct parking *parking = stream->source->parking;
    if (stream->has_said_goodbye) /* the client's next connection gets the events after it */
        return MHD_CONTENT_READER_END_OF_STREAM;
    for (;;) {
        unsigned long version = parking_version(parking);
        double now = clock_seconds();
        bool is_quiet = now - stream->last_written >= PING_SECONDS;
        if (is_quiet || stream->must_look_again)
            look_at_run(stream);
        size_t written = write_events(stream, buffer, size);
        if (written == 0 && is_quiet && size >= sizeof ping - 1 && !stream->has_ended) {
            memcpy(buffer, ping, sizeof ping - 1);
            written = sizeof ping - 1;
        }
        if (written > 0) {
            stream->last_written = now;
            statistics_add_bytes(stream->source->statistics, 0, written);
            return (ssize_t)written;
        }
        if (!stream->has_ended && size >= sizeof goodbye - 1 && atomic_load(stream->source->is_draining)) {
            stream->has_said_goodbye = true;
            memcpy(buffer, goodbye, sizeof goodbye - 1);
            return sizeof goodbye - 1;
        }
        if (stream->has_ended || stream->is_run_over || atomic_load(stream->source->is_draining))
            return stream->has_failed ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
        stream->parked.deadline =
            stream->must_look_again ? now + LOOK_SECONDS : stream->last_written + PING_SECONDS;
        if (parking_wait(parking, &stream->parked, version))
            return 0;
    }
}
