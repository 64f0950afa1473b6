/* The run manager: finds, cancels and deletes runs. */
#include "server/runs/runs.h"

#include "server/runs/active.h"

#include <stdlib.h>
#include <string.h>

bool runs_find(struct runs *runs, const char *id, struct run_record *run, struct error *error) {
    *run = (struct run_record){0};
    pthread_mutex_lock(&runs->mutex);
    const struct active_run *active = active_run_find(runs, id);
    bool ok = active != NULL && active_run_copy_record(active, run, error);
    pthread_mutex_unlock(&runs->mutex);
    return active != NULL ? ok : runs->store->find_run(runs->store, id, run, error);
}

bool runs_find_ended(struct runs *runs, const char *id, bool *has_ended, struct error *error) {
    struct run_record run;
    pthread_mutex_lock(&runs->mutex);
    const struct active_run *active = active_run_find(runs, id);
    if (active != NULL)
        *has_ended = run_state_has_ended(active->record.state);
    pthread_mutex_unlock(&runs->mutex);
    if (active != NULL)
        return true;
    if (!runs->store->find_run(runs->store, id, &run, error))
        return false;
    *has_ended = run_state_has_ended(run.state);
    run_record_clear(&run);
    return true;
}

bool runs_list(struct runs *runs, const struct run_filter *filter, struct run_record **list, size_t *count,
               struct error *error) {
    if (!runs->store->list_runs(runs->store, filter, list, count, error))
        return false;
    bool ok = true;
    /* The record in memory is newer than the stored one. */
    pthread_mutex_lock(&runs->mutex);
    for (size_t i = 0; i < *count && ok; i++) {
        struct run_record *run = &(*list)[i], copy;
        const struct active_run *active =
            run_state_has_ended(run->state) ? NULL : active_run_find(runs, run->id);
        if (active == NULL)
            continue;
        ok = active_run_copy_record(active, &copy, error);
        if (ok) {
            run_record_clear(run);
            *run = copy;
            run_record_drop_large(run);
        }
    }
    pthread_mutex_unlock(&runs->mutex);
    if (ok)
        return true;
    run_records_free(*list, *count);
    *list = NULL;
    *count = 0;
    return false;
}

/* Sets the error for a run that is not active and so cannot be cancelled. */
static bool refuse_cancel(struct runs *runs, const char *id, struct error *error) {
    struct run_record record;
    if (!runs->store->find_run(runs->store, id, &record, error))
        return false;
    if (run_state_has_ended(record.state))
        error_set(error, ERROR_CONFLICT, "the run has already ended: it is %s", run_state_name(record.state));
    else
        error_set(error, ERROR_CONFLICT, "the run is still being created; try again");
    run_record_clear(&record);
    return false;
}

/* Puts a run back into the queue after it could not be ended. */
static void requeue(struct runs *runs, struct active_run *run) {
    pthread_mutex_lock(&runs->mutex);
    if (run_queue_reserve(runs->queue, run->record.owner, 1, QUEUE_WITHOUT_LIMITS, NULL))
        run_queue_push(runs->queue, run->record.owner, &run->entry);
    runs_wake_workers(runs);
    pthread_mutex_unlock(&runs->mutex);
}

bool runs_cancel(struct runs *runs, const char *id, struct run_record *run, struct error *error) {
    pthread_mutex_lock(&runs->mutex);
    struct active_run *active = active_run_find(runs, id);
    bool has_ended = active != NULL && run_state_has_ended(active->record.state);
    bool was_waiting = active != NULL && run_queue_remove(runs->queue, &active->entry);
    if (active != NULL && !has_ended && !was_waiting) {
        int none = INTERRUPTION_NONE;
        atomic_compare_exchange_strong(&active->interruption, &none, INTERRUPTION_CANCEL);
    }
    pthread_mutex_unlock(&runs->mutex);
    if (has_ended)
        return error_set(error, ERROR_CONFLICT, "the run has already ended");
    if (active == NULL)
        return refuse_cancel(runs, id, error);
    if (was_waiting && !active_run_finish(runs, active, RUN_CANCELLED, NULL, NULL, true, error)) {
        requeue(runs, active);
        return false;
    }
    return run == NULL || runs_find(runs, id, run, error);
}

bool runs_delete(struct runs *runs, const char *id, struct error *error) {
    struct run_record record;
    if (!runs_find(runs, id, &record, error))
        return false;
    bool has_ended = run_state_has_ended(record.state);
    run_record_clear(&record);
    if (!has_ended)
        return error_set(error, ERROR_CONFLICT, "the run has not ended; cancel it first");
    if (!runs->store->delete_run(runs->store, id, error))
        return false;
    pthread_mutex_lock(&runs->mutex);
    struct active_run *unsaved = active_run_find(runs, id);
    if (unsaved != NULL)
        active_run_remove(runs, unsaved);
    pthread_mutex_unlock(&runs->mutex);
    return true;
}

/* Deletes ended runs in one state. */
static bool delete_in_state(struct runs *runs, const struct run_filter *filter, size_t *deleted,
                            struct error *error) {
    struct run_record *list = NULL;
    size_t count = 0;
    bool ok = runs_list(runs, filter, &list, &count, error);
    for (size_t i = 0; i < count && ok; i++) {
        struct error failure = {0};
        if (runs_delete(runs, list[i].id, &failure))
            ++*deleted;
        else if (failure.code != ERROR_MISSING) /* somebody else has deleted it in between */
            ok = error_set(error, failure.code, "%s", failure.message);
    }
    run_records_free(list, count);
    return ok;
}

bool runs_delete_ended(struct runs *runs, const struct run_filter *filter, size_t *deleted,
                       struct error *error) {
    bool ok = true;
    *deleted = 0;
    for (enum run_state state = 0; state < RUN_STATE_COUNT && ok; state++) {
        struct run_filter in_state = *filter;
        in_state.state = (int)state;
        in_state.limit = filter->limit - *deleted;
        if (run_state_has_ended(state) && in_state.limit > 0 &&
            (filter->state < 0 || filter->state == (int)state))
            ok = delete_in_state(runs, &in_state, deleted, error);
    }
    return ok;
}

bool runs_check_disk(struct runs *runs, const char *owner, size_t bytes, struct error *error) {
    return disk_quota_check(&runs->disk_quota, runs->store, owner, bytes, error);
}

void runs_count(struct runs *runs, struct runs_counts *counts) {
    *counts = (struct runs_counts){0};
    pthread_mutex_lock(&runs->mutex);
    counts->workers = runs->workers != NULL ? workers_count(runs->workers) : 0;
    memcpy(counts->by_state, runs->ended, sizeof counts->by_state);
    for (const struct active_run *run = runs->active; run != NULL; run = run->next)
        counts->by_state[run->record.state] += !run_state_has_ended(run->record.state);
    pthread_mutex_unlock(&runs->mutex);
    counts->steps = atomic_load(&runs->steps);
    counts->epochs = atomic_load(&runs->epochs);
}
