/* The list of active runs, and changes to their records: see active.h. */
#include "server/runs/active.h"

#include "server/runs/json.h"
#include "server/system/clock.h"

#include <stdlib.h>
#include <string.h>

struct active_run *active_run_create(struct run_record *record, const struct experiment *experiment,
                                     const struct parameter_set *parameters, struct error *error) {
    struct active_run *run = calloc(1, sizeof *run);
    if (run == NULL || !parameter_set_copy(&run->parameters, parameters, error)) {
        free(run);
        run_record_clear(record);
        error_set_memory(error, sizeof *run);
        return NULL;
    }
    run->record = *record;
    run->experiment = experiment;
    atomic_init(&run->interruption, INTERRUPTION_NONE);
    atomic_init(&run->progress_done, record->progress_done);
    atomic_init(&run->progress_total, record->progress_total);
    return run;
}

void active_run_free(struct active_run *run) {
    if (run == NULL)
        return;
    run_record_clear(&run->record);
    parameter_set_free(&run->parameters);
    free(run);
}

struct active_run *active_run_find(struct runs *runs, const char *id) {
    for (struct active_run *run = runs->active; run != NULL; run = run->next)
        if (strcmp(run->record.id, id) == 0)
            return run;
    return NULL;
}

bool active_run_copy_record(const struct active_run *run, struct run_record *copy, struct error *error) {
    if (!run_record_copy(copy, &run->record, error))
        return false;
    copy->progress_done = atomic_load(&run->progress_done);
    copy->progress_total = atomic_load(&run->progress_total);
    return true;
}

void active_run_add(struct runs *runs, struct active_run *run) {
    run->next = runs->active;
    if (run->next != NULL)
        run->next->previous = run;
    runs->active = run;
    run_queue_push(runs->queue, run->record.owner, &run->entry);
}

void active_run_remove(struct runs *runs, struct active_run *run) {
    if (run->previous != NULL)
        run->previous->next = run->next;
    else
        runs->active = run->next;
    if (run->next != NULL)
        run->next->previous = run->previous;
    runs->unsaved -= run->is_unsaved;
    runs->suspects -= run->is_suspect;
    active_run_free(run);
}

struct event *run_event_create(const struct run_record *record, enum event_kind kind, struct error *error) {
    char *json = run_to_brief_json(record, NULL, error);
    struct event *event = json != NULL ? event_create(record->id, kind, json, error) : NULL;
    if (event != NULL)
        event->of_ended_run = run_state_has_ended(record->state);
    free(json);
    return event;
}

/* The arguments of the commits below. */
struct change {
    struct runs *runs;
    struct active_run *run; /* NULL if the run is not in memory */
    const struct run_record *record;
    bool acknowledged;
};

/* Updates the run in memory after the store and before the event is shown, so that a reader who sees the
 * event and then asks for the run finds it changed. Removes a run that has ended. */
static void change_active_run(const struct change *change) {
    struct runs *runs = change->runs;
    const struct run_record *record = change->record;
    pthread_mutex_lock(&runs->mutex);
    if (run_state_has_ended(record->state)) {
        runs->ended[record->state]++;
        active_run_remove(runs, change->run);
    } else {
        change->run->record.state = record->state;
        change->run->record.started_ms = record->started_ms;
        memcpy(change->run->record.kernels, record->kernels, sizeof record->kernels);
    }
    pthread_mutex_unlock(&runs->mutex);
}

static bool commit_to_store(void *argument, const struct event_record *events, size_t count,
                            struct error *error) {
    const struct change *change = argument;
    struct store *store = change->runs->store;
    if (!store->update_run(store, change->record, change->acknowledged, events, count, error))
        return false;
    if (change->run != NULL)
        change_active_run(change);
    return true;
}

/* Used when a run has ended but its end cannot be stored: the run stays in memory and takes over the
 * record. */
static bool commit_to_memory(void *argument, const struct event_record *events, size_t count,
                             struct error *error) {
    (void)events, (void)count, (void)error;
    const struct change *change = argument;
    struct runs *runs = change->runs;
    struct active_run *run = change->run;
    pthread_mutex_lock(&runs->mutex);
    runs->ended[change->record->state]++;
    run_record_clear(&run->record);
    run->record = *change->record;
    run->is_unsaved = true;
    runs->unsaved++;
    pthread_mutex_unlock(&runs->mutex);
    return true;
}

/* Publishes the events of a changed record. The commit makes the change while the log is not settled, so that
 * nobody sees that a run has ended and reads a settled log before the run's end is in it (stream.c). */
static bool publish_change(struct change *change,
                           bool (*commit)(void *change, const struct event_record *events, size_t count,
                                          struct error *error),
                           struct error *error) {
    struct event *events[2];
    size_t count = 0, wanted = run_state_has_ended(change->record->state) ? 2 : 1;
    static const enum event_kind kinds[] = {EVENT_STATE, EVENT_END};
    for (; count < wanted; count++)
        if ((events[count] = run_event_create(change->record, kinds[count], error)) == NULL)
            break;
    if (count < wanted) {
        while (count > 0)
            event_release(events[--count]);
        return false;
    }
    return event_log_publish(change->runs->log, events, count, commit, change, error);
}

bool active_run_publish(struct runs *runs, struct active_run *run, const struct run_record *record,
                        bool acknowledged, struct error *error) {
    struct change change = {runs, run, record, acknowledged};
    return publish_change(&change, commit_to_store, error);
}

/* Builds the record of an ended run. */
static bool ended_record(struct runs *runs, struct active_run *run, enum run_state state, char *result_json,
                         const char *message, struct run_record *record, struct error *error) {
    pthread_mutex_lock(&runs->mutex);
    bool ok = active_run_copy_record(run, record, error);
    pthread_mutex_unlock(&runs->mutex);
    if (!ok)
        return false;
    record->finished_ms = clock_wall_ms();
    record->error = message != NULL ? strdup(message) : NULL;
    ok = run_record_set_state(record, state, error) &&
         (message == NULL || record->error != NULL || error_set_memory(error, strlen(message)));
    if (ok)
        record->result_json = result_json;
    else
        run_record_clear(record);
    return ok;
}

bool active_run_finish(struct runs *runs, struct active_run *run, enum run_state state, char *result_json,
                       const char *message, bool must_be_stored, struct error *error) {
    struct run_record record;
    struct error failure = {0}, failure_to_keep = {0};
    if (!ended_record(runs, run, state, result_json, message, &record, error))
        return false;
    if (active_run_publish(runs, run, &record, must_be_stored, &failure)) {
        run_record_clear(&record);
        return true;
    }
    struct change change = {runs, run, &record, false};
    if (!must_be_stored && failure.code != ERROR_MEMORY &&
        publish_change(&change, commit_to_memory, &failure_to_keep))
        return error_set(error, failure.code, "%s", failure.message);
    record.result_json = NULL;
    run_record_clear(&record);
    if (failure_to_keep.code != ERROR_NONE) /* for lack of memory */
        failure = failure_to_keep;
    return error_set(error, failure.code, "%s", failure.message);
}

/* Copies one record that is still to be stored; returns false if there is none. */
static bool next_unsaved(struct runs *runs, struct run_record *record) {
    bool found = false;
    pthread_mutex_lock(&runs->mutex);
    for (struct active_run *run = runs->active; run != NULL && !found; run = run->next)
        found = run->is_unsaved && active_run_copy_record(run, record, NULL);
    pthread_mutex_unlock(&runs->mutex);
    return found;
}

void active_runs_save(struct runs *runs) {
    struct run_record record;
    while (next_unsaved(runs, &record)) {
        struct error failure = {0};
        bool gone = active_run_publish(runs, NULL, &record, false, &failure) || failure.code == ERROR_MISSING;
        if (gone) {
            pthread_mutex_lock(&runs->mutex);
            struct active_run *run = active_run_find(runs, record.id);
            if (run != NULL)
                active_run_remove(runs, run);
            pthread_mutex_unlock(&runs->mutex);
        }
        run_record_clear(&record);
        if (!gone)
            return;
    }
}
