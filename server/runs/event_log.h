/* What happens to runs, as events that many readers follow.
 *
 * Every event has an id from one sequence for all runs, so that a reader is only a cursor: it asks for what
 * comes after the last id it has. Events that matter (state, epoch, attention, end) are stored in the same
 * transaction as the change they tell of, and only then shown; step events live in memory alone and may be
 * dropped. The newest events are kept in memory as ready-made JSON that all readers share; older ones are
 * read from the store. Ids hold the store's generation in their high bits, so they grow across restarts and a
 * client's Last-Event-ID means the same in the next process: nothing is missed and nothing comes twice. */
#ifndef ATTNLAB_SERVER_RUNS_EVENT_LOG_H
#define ATTNLAB_SERVER_RUNS_EVENT_LOG_H

#include "server/store/store.h"

/* Immutable and shared: event_retain and event_release count the users. */
struct event {
    uint64_t id;
    enum event_kind kind;
    char run_id[ID_SIZE];
    bool of_ended_run;   /* the payload is a run that no longer changes: the store need not keep it */
    size_t size;         /* of the payload, without the terminator */
    const char *payload; /* JSON in one line: the data of a server-sent event */
    size_t field_size;
    const char *field; /* the payload behind what it has on the wire: "id: 1\nevent: end\ndata: {...}" */
};
struct event *event_create(const char *run_id, enum event_kind kind, const char *payload,
                           struct error *error);
struct event *event_retain(struct event *event);
void event_release(struct event *event);
const char *event_kind_name(enum event_kind kind); /* "state", "epoch", ... */

struct event_log;

/* Makes the payload of an event of an ended run, which the store does not keep, from the run's record
 * (malloc).
 */
typedef char *event_payload_writer(const struct run_record *run, size_t *length, struct error *error);

/* The store is borrowed. */
struct event_log *event_log_open(struct store *store, event_payload_writer *write_payload,
                                 struct error *error);
void event_log_close(struct event_log *log);

/* `notify` is called after every published event, from the publishing thread and with no lock held. It must
 * be quick: wake suspended readers, no more. Set it before the first event. A reader that found nothing and
 * then goes to sleep can miss an event in between: mark it as waiting first, read once more, then suspend. */
void event_log_set_listener(struct event_log *log, void (*notify)(void *owner, const struct event *event),
                            void *owner);

/* Gives `count` events their ids, calls `commit` (which stores them together with what they tell of; NULL for
 * nothing) and shows them to readers if it returns true. Takes over the events in any case. */
bool event_log_publish(struct event_log *log, struct event **events, size_t count,
                       bool (*commit)(void *argument, const struct event_record *records, size_t count,
                                      struct error *error),
                       void *argument, struct error *error);
/* Publishes an event that is not stored, unless another publication is under way: then it is released and
 * false returned, and the caller tries again with its next one. Never waits for the disk. */
bool event_log_try_publish(struct event_log *log, struct event *event);

/* Whether nothing is being published at this moment: then all that anybody can know of is here to be read. It
 * never waits. */
bool event_log_is_settled(struct event_log *log);

/* The newest id given out: where a reader begins that wants only what is still to come. */
uint64_t event_log_newest_id(struct event_log *log);

/* Up to `limit` events after *cursor, in order, of one run or (NULL) of all. Each is retained for the caller.
 * *cursor moves behind all that was looked through, so keep it for the next read; a client resumes with the
 * id of the last event it was sent. A stream of a run ends after its EVENT_END; where a client resumes behind
 * that, nothing more will come: look at the run's state, which says so a moment before its end can be read
 * here. */
bool event_log_read(struct event_log *log, const char *run_id, uint64_t *cursor, size_t limit,
                    struct event **events, size_t *count, struct error *error);

#endif
