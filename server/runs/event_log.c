/* The event log: a ring of the newest events, shared by all readers, in front of the store.
 *
 * There are two locks. `publishing` is held while an event gets its id, is committed and is shown, so that
 * ids appear in order: a reader whose cursor has passed an id cannot miss it later. `ring` is only held
 * briefly, so that readers never wait for the disk because of a commit. */
#include "server/runs/event_log.h"

#include "server/formats/json_check.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING_EVENTS = 4096, RING_BYTES = 8 * 1024 * 1024 };
/* Ids below 2^53 are exact in JavaScript: 2^21 restarts with 2^32 events each. */
enum { GENERATION_SHIFT = 32 };
/* The longest "id: ...\nevent: ...\ndata: " must fit. */
enum { HEAD_SIZE = 64 };

struct shared_event {
    struct event event; /* first, so that a struct event * is also a struct shared_event * */
    atomic_size_t users;
    char text[]; /* HEAD_SIZE bytes, the last of them filled with id and kind, then the payload */
};

struct event_log {
    struct store *store;
    event_payload_writer *write_payload;
    void (*notify)(void *owner, const struct event *event);
    void *notify_owner;
    pthread_mutex_t publishing;
    pthread_mutex_t ring;
    uint64_t next_id; /* guarded by `publishing` */
    /* Guarded by `ring`: `count` events from events[first] on, with `bytes` of payload. Events with ids up to
     * `forgotten` are only in the store. */
    struct event *events[RING_EVENTS];
    size_t first, count, bytes;
    uint64_t forgotten, newest_id;
};

const char *event_kind_name(enum event_kind kind) {
    static const char *const names[] = {"state", "epoch", "step", "attention", "end"};
    return names[kind];
}

struct event *event_create(const char *run_id, enum event_kind kind, const char *payload,
                           struct error *error) {
    size_t size = strlen(payload);
    struct shared_event *shared = malloc(sizeof *shared + HEAD_SIZE + size + 1);
    if (shared == NULL) {
        error_set_memory(error, sizeof *shared + HEAD_SIZE + size + 1);
        return NULL;
    }
    memcpy(shared->text + HEAD_SIZE, payload, size + 1);
    shared->event = (struct event){.kind = kind, .size = size, .payload = shared->text + HEAD_SIZE};
    snprintf(shared->event.run_id, ID_SIZE, "%s", run_id);
    atomic_init(&shared->users, 1);
    return &shared->event;
}

/* Call this before the event is shared. */
static void event_set_id(struct event *event, uint64_t id) {
    char head[HEAD_SIZE];
    int length =
        snprintf(head, sizeof head, "id: %" PRIu64 "\nevent: %s\ndata: ", id, event_kind_name(event->kind));
    char *field = ((struct shared_event *)event)->text + HEAD_SIZE - length;
    memcpy(field, head, (size_t)length);
    event->id = id;
    event->field = field;
    event->field_size = (size_t)length + event->size;
}

struct event *event_retain(struct event *event) {
    atomic_fetch_add_explicit(&((struct shared_event *)event)->users, 1, memory_order_relaxed);
    return event;
}

void event_release(struct event *event) {
    if (event != NULL &&
        atomic_fetch_sub_explicit(&((struct shared_event *)event)->users, 1, memory_order_acq_rel) == 1)
        free(event);
}

struct event_log *event_log_open(struct store *store, event_payload_writer *write_payload,
                                 struct error *error) {
    struct event_log *log = calloc(1, sizeof *log);
    if (log == NULL) {
        error_set_memory(error, sizeof *log);
        return NULL;
    }
    log->store = store;
    log->write_payload = write_payload;
    pthread_mutex_init(&log->publishing, NULL);
    pthread_mutex_init(&log->ring, NULL);
    log->forgotten = store->generation(store) << GENERATION_SHIFT;
    log->newest_id = log->forgotten;
    log->next_id = log->forgotten + 1;
    return log;
}

void event_log_close(struct event_log *log) {
    if (log == NULL)
        return;
    for (size_t i = 0; i < log->count; i++)
        event_release(log->events[(log->first + i) % RING_EVENTS]);
    pthread_mutex_destroy(&log->publishing);
    pthread_mutex_destroy(&log->ring);
    free(log);
}

void event_log_set_listener(struct event_log *log, void (*notify)(void *owner, const struct event *event),
                            void *owner) {
    log->notify = notify;
    log->notify_owner = owner;
}

static void ring_forget_oldest(struct event_log *log) {
    struct event *oldest = log->events[log->first];
    log->forgotten = oldest->id;
    log->bytes -= oldest->size;
    log->first = (log->first + 1) % RING_EVENTS;
    log->count--;
    event_release(oldest);
}

/* Shows events, whose ids are set, to readers. Keeps its own reference to each. */
static void ring_append(struct event_log *log, struct event **events, size_t count) {
    pthread_mutex_lock(&log->ring);
    for (size_t i = 0; i < count; i++) {
        while (log->count == RING_EVENTS || (log->count > 0 && log->bytes + events[i]->size > RING_BYTES))
            ring_forget_oldest(log);
        log->events[(log->first + log->count) % RING_EVENTS] = event_retain(events[i]);
        log->count++;
        log->bytes += events[i]->size;
        log->newest_id = events[i]->id;
    }
    pthread_mutex_unlock(&log->ring);
}

static void notify_and_release(struct event_log *log, struct event **events, size_t count, bool notify) {
    for (size_t i = 0; i < count; i++) {
        if (notify && log->notify != NULL)
            log->notify(log->notify_owner, events[i]);
        event_release(events[i]);
    }
}

/* The part of an event that is stored. For events of an ended run the payload is the run itself, so it is
 * left out. */
static struct event_record event_to_record(const struct event *event) {
    struct event_record record = {.id = event->id, .kind = event->kind, .payload = NULL};
    memcpy(record.run_id, event->run_id, ID_SIZE);
    if (!event->of_ended_run)
        record.payload = (char *)event->payload;
    return record;
}

bool event_log_publish(struct event_log *log, struct event **events, size_t count,
                       bool (*commit)(void *argument, const struct event_record *records, size_t count,
                                      struct error *error),
                       void *argument, struct error *error) {
    struct event_record *records = calloc(count + 1, sizeof *records);
    if (records == NULL) {
        notify_and_release(log, events, count, false);
        return error_set_memory(error, (count + 1) * sizeof *records);
    }
    pthread_mutex_lock(&log->publishing);
    for (size_t i = 0; i < count; i++) {
        event_set_id(events[i], log->next_id++);
        records[i] = event_to_record(events[i]);
    }
    bool ok = commit == NULL || commit(argument, records, count, error);
    if (ok)
        ring_append(log, events, count);
    pthread_mutex_unlock(&log->publishing);
    free(records);
    notify_and_release(log, events, count, ok);
    return ok;
}

bool event_log_try_publish(struct event_log *log, struct event *event) {
    if (pthread_mutex_trylock(&log->publishing) != 0) {
        event_release(event);
        return false;
    }
    event_set_id(event, log->next_id++);
    ring_append(log, &event, 1);
    pthread_mutex_unlock(&log->publishing);
    notify_and_release(log, &event, 1, true);
    return true;
}

bool event_log_is_settled(struct event_log *log) {
    if (pthread_mutex_trylock(&log->publishing) != 0)
        return false;
    pthread_mutex_unlock(&log->publishing);
    return true;
}

uint64_t event_log_newest_id(struct event_log *log) {
    pthread_mutex_lock(&log->ring);
    uint64_t newest = log->newest_id;
    pthread_mutex_unlock(&log->ring);
    return newest;
}

/* The index (from `first`) of the first event in the ring with an id above `after`. */
static size_t ring_search(const struct event_log *log, uint64_t after) {
    size_t low = 0, high = log->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (log->events[(log->first + middle) % RING_EVENTS]->id > after)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Reads from the ring. Returns false if the cursor is before the ring's first event; *forgotten is then the
 * newest id that the ring lacks. */
static bool ring_read(struct event_log *log, const char *run_id, uint64_t *cursor, size_t limit,
                      struct event **events, size_t *count, uint64_t *forgotten) {
    pthread_mutex_lock(&log->ring);
    *forgotten = log->forgotten;
    bool within = *cursor >= log->forgotten;
    for (size_t i = within ? ring_search(log, *cursor) : log->count; i < log->count && *count < limit; i++) {
        struct event *event = log->events[(log->first + i) % RING_EVENTS];
        *cursor = event->id;
        if (run_id == NULL || strcmp(event->run_id, run_id) == 0)
            events[(*count)++] = event_retain(event);
    }
    pthread_mutex_unlock(&log->ring);
    return within;
}

/* Recreates an event from its record. If its payload is damaged, the event of a state shows the run as it is
 * now, and any other fails with ERROR_MISSING: it is left out, and readers find what it said elsewhere. */
static struct event *event_restore(struct event_log *log, const struct event_record *record,
                                   struct error *error) {
    struct event *event = NULL;
    bool is_of_run = record->kind == EVENT_STATE || record->kind == EVENT_END;
    bool is_readable = record->payload != NULL && json_check(record->payload) == JSON_KIND_OBJECT;
    if (record->is_damaged || (!is_readable && !is_of_run)) {
        error_set(error, ERROR_MISSING, "an event is damaged");
    } else if (is_readable) {
        event = event_create(record->run_id, record->kind, record->payload, error);
    } else {
        struct run_record run;
        char *json = NULL;
        if (log->store->find_run(log->store, record->run_id, &run, error)) {
            json = log->write_payload(&run, NULL, error);
            run_record_clear(&run);
        }
        if (json != NULL)
            event = event_create(record->run_id, record->kind, json, error);
        free(json);
    }
    if (event != NULL)
        event_set_id(event, record->id);
    return event;
}

/* Reads from the store the events before those in the ring. */
static bool store_read(struct event_log *log, const char *run_id, uint64_t *cursor, uint64_t forgotten,
                       size_t limit, struct event **events, size_t *count, struct error *error) {
    struct event_record *records = NULL;
    size_t found = 0, wanted = limit - *count;
    bool ok =
        log->store->read_events(log->store, run_id, *cursor, forgotten + 1, wanted, &records, &found, error);
    for (size_t i = 0; i < found; i++) {
        struct error gone = {0};
        struct event *event = ok ? event_restore(log, &records[i], &gone) : NULL;
        if (event != NULL)
            events[(*count)++] = event;
        else if (ok && gone.code != ERROR_MISSING && gone.code != ERROR_DAMAGED)
            /* Missing: the run and its events were deleted meanwhile. */
            ok = error_set(error, gone.code, "%s", gone.message);
        free(records[i].payload);
        if (ok)
            *cursor = records[i].id;
    }
    free(records);
    if (ok && found < wanted)
        *cursor = forgotten;
    return ok;
}

bool event_log_read(struct event_log *log, const char *run_id, uint64_t *cursor, size_t limit,
                    struct event **events, size_t *count, struct error *error) {
    uint64_t forgotten = 0;
    *count = 0;
    while (!ring_read(log, run_id, cursor, limit, events, count, &forgotten)) {
        if (!store_read(log, run_id, cursor, forgotten, limit, events, count, error)) {
            while (*count > 0)
                event_release(events[--*count]);
            return false;
        }
        if (*count == limit)
            break;
    }
    return true;
}
