/* The events of runs, for many readers.
 *
 * All runs share one sequence of event ids, so a reader's only state is a cursor: it asks for the events
 * after the last id that it has. Important events (state, epoch, attention, end) are stored in the same
 * transaction as the change they report, and only then shown; step events exist only in memory and may be
 * dropped. The newest events are kept in memory as finished JSON that all readers share; older ones are read
 * from the store. The high bits of an id are the store's generation, so that ids grow across restarts and a
 * client can resume with its Last-Event-ID after one: it misses nothing and gets nothing twice. */
#ifndef ATTNLAB_SERVER_RUNS_EVENT_LOG_H
#define ATTNLAB_SERVER_RUNS_EVENT_LOG_H

#include "server/store/store.h"

/* Immutable and shared, with a reference count: event_retain and event_release. */
struct event {
    uint64_t id;
    enum event_kind kind;
    char run_id[ID_SIZE];
    bool of_ended_run;   /* the payload is a run that no longer changes, so it need not be stored */
    size_t size;         /* of the payload, without the terminator */
    const char *payload; /* JSON in one line: the data of a server-sent event */
    size_t field_size;
    const char *field; /* the payload with its head, as it is sent: "id: 1\nevent: end\ndata: {...}" */
};
struct event *event_create(const char *run_id, enum event_kind kind, const char *payload,
                           struct error *error);
struct event *event_retain(struct event *event);
void event_release(struct event *event);
const char *event_kind_name(enum event_kind kind); /* "state", "epoch", ... */

struct event_log;

/* Writes the payload of an ended run's event from the run's record (malloc); the store does not keep it. */
typedef char *event_payload_writer(const struct run_record *run, size_t *length, struct error *error);

/* The store is borrowed. */
struct event_log *event_log_open(struct store *store, event_payload_writer *write_payload,
                                 struct error *error);
void event_log_close(struct event_log *log);

/* Sets a function that is called after every published event, on the publishing thread and without locks. It
 * must be quick, so it should only wake suspended readers. Set it before the first event. A reader that finds
 * nothing could miss an event before it goes to sleep, so it must first mark itself as waiting, then read
 * once more, and only then suspend. */
void event_log_set_listener(struct event_log *log, void (*notify)(void *owner, const struct event *event),
                            void *owner);

/* Gives `count` events their ids, calls `commit`, and shows them to readers if it returns true. `commit`
 * stores the events together with the change they report; NULL for none. Takes over the events in any
 * case. */
bool event_log_publish(struct event_log *log, struct event **events, size_t count,
                       bool (*commit)(void *argument, const struct event_record *records, size_t count,
                                      struct error *error),
                       void *argument, struct error *error);
/* Publishes an event that is not stored. If another publication is under way, releases the event and returns
 * false; the caller tries again with its next event. Never waits for the disk. */
bool event_log_try_publish(struct event_log *log, struct event *event);

/* Whether nothing is being published at this moment. If so, the events of every change that is visible
 * anywhere can be read. Never waits. */
bool event_log_is_settled(struct event_log *log);

/* The newest id in use: the cursor of a reader that wants only future events. */
uint64_t event_log_newest_id(struct event_log *log);

/* Reads up to `limit` events after *cursor, in order, of one run or (NULL) of all runs, and retains each for
 * the caller. *cursor moves past all events that were examined, so the caller keeps it for the next read; a
 * client resumes with the id of the last event that it was sent. A stream of a run ends after the run's
 * EVENT_END. If a client resumes after that event, no more will come, so the caller must also check the run's
 * state; it says that the run has ended a moment before the end can be read here. */
bool event_log_read(struct event_log *log, const char *run_id, uint64_t *cursor, size_t limit,
                    struct event **events, size_t *count, struct error *error);

#endif
