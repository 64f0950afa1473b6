/* Creates runs; stores and publishes them before they are queued. See runs.h and create.h. */
#include "server/runs/create.h"

#include "server/formats/json_parameters.h"
#include "server/runs/active.h"
#include "server/system/clock.h"
#include "server/system/identifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool run_record_prepare(struct runs *runs, struct run_record *record, const struct run_request *request,
                        struct error *error) {
    struct text parameters = {0};
    text_allow(&parameters, TEXT_UNLIMITED); /* as long as the request's body made them */
    *record = (struct run_record){.state = RUN_QUEUED, .created_ms = clock_wall_ms()};
    json_write_parameters(&parameters, NULL, request->parameters);
    record->parameters_json = text_release(&parameters);
    record->experiment = strdup(request->experiment->name);
    record->name = strdup(request->name != NULL ? request->name : "");
    record->owner = strdup(request->owner != NULL ? request->owner : "");
    bool complete = record->parameters_json != NULL && record->experiment != NULL && record->name != NULL &&
                    record->owner != NULL;
    if (complete ? identifier_create(record->id, error) &&
                       datasets_find_digest(runs->datasets, run_dataset_name(request->parameters),
                                            &record->dataset_digest, error)
                 : error_set_memory(error, sizeof *record))
        return true;
    run_record_clear(record);
    return false;
}

/* The arguments of add_to_store. */
struct addition {
    struct store *store;
    const struct comparison_record *comparison;
    const struct run_record *records;
    size_t count;
};

static bool add_to_store(void *argument, const struct event_record *events, size_t event_count,
                         struct error *error) {
    const struct addition *addition = argument;
    return addition->store->add_runs(addition->store, addition->comparison, addition->records,
                                     addition->count, events, event_count, error);
}

/* Stores new runs and publishes their events. */
static bool publish_new(struct runs *runs, const struct comparison_record *comparison,
                        struct active_run **items, size_t count, struct error *error) {
    /* Shallow copies, because the store expects an array. */
    struct run_record *records = calloc(count, sizeof *records);
    struct event **events = calloc(count, sizeof(struct event *));
    size_t made = 0;
    bool ok = false;
    if (records == NULL || events == NULL) {
        error_set_memory(error, count * sizeof *records);
        goto cleanup;
    }
    for (; made < count; made++) {
        records[made] = items[made]->record;
        events[made] = run_event_create(&records[made], EVENT_STATE, error);
        if (events[made] == NULL)
            goto cleanup;
    }
    struct addition addition = {runs->store, comparison, records, count};
    ok = event_log_publish(runs->log, events, count, add_to_store, &addition, error);
    made = 0; /* the log has taken them over */

cleanup:
    for (size_t i = 0; i < made; i++)
        event_release(events[i]);
    free(records);
    free(events);
    return ok;
}

/* The number of waiting runs from a network. The caller holds the lock. */
static size_t count_waiting(const struct runs *runs, const char *network) {
    size_t count = 0;
    for (const struct active_run *run = runs->active; run != NULL; run = run->next)
        count += run->record.state == RUN_QUEUED && strcmp(run->record.network, network) == 0;
    for (const struct runs_under_way *under_way = runs->under_way; under_way != NULL;
         under_way = under_way->next)
        count += strcmp(under_way->network, network) == 0 ? under_way->count : 0;
    return count;
}

/* Reserves places in the queue. The caller holds the lock. */
static bool reserve(struct runs *runs, const char *owner, const struct runs_under_way *wanted,
                    const struct share *share, struct error *error) {
    if (runs->is_stopping)
        return error_set(error, ERROR_UNAVAILABLE, "the service is ending");
    bool is_bound = wanted->network[0] != '\0';
    if (is_bound && wanted->count > share->network_limit)
        return error_set(error, ERROR_TOO_LARGE,
                         "%zu runs are more than can ever wait: at most %zu from your network address may",
                         wanted->count, share->network_limit);
    size_t waiting = is_bound ? count_waiting(runs, wanted->network) : 0;
    if (is_bound && waiting + wanted->count > share->network_limit)
        return error_set(error, ERROR_LIMIT,
                         "%zu runs from your network address are waiting, and at most %zu are allowed; try "
                         "again when some have started",
                         waiting, share->network_limit);
    return run_queue_reserve(runs->queue, owner, wanted->count, share->own_limit, error);
}

static void remember_under_way(struct runs *runs, struct runs_under_way *added) {
    added->next = runs->under_way;
    runs->under_way = added;
}

static void forget_under_way(struct runs *runs, const struct runs_under_way *done) {
    struct runs_under_way **link = &runs->under_way;
    while (*link != done)
        link = &(*link)->next;
    *link = done->next;
}

bool runs_add(struct runs *runs, const struct comparison_record *comparison, struct active_run **items,
              size_t count, const struct share *share, struct error *error) {
    /* The owner's text belongs to a run, which outlives this function; all runs have the same owner. */
    const char *owner = items[0]->record.owner;
    bool is_bound = share->network != NULL && share->network_limit > 0;
    struct runs_under_way under_way = {NULL, is_bound ? share->network : "", count};
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        snprintf(items[i]->record.network, sizeof items[i]->record.network, "%s", under_way.network);
        bytes += run_record_row_bytes(&items[i]->record);
    }
    if (!runs_check_disk(runs, owner, bytes, error))
        return false;
    pthread_mutex_lock(&runs->mutex);
    bool ok = reserve(runs, owner, &under_way, share, error);
    if (ok)
        remember_under_way(runs, &under_way);
    pthread_mutex_unlock(&runs->mutex);
    if (!ok)
        return false;
    ok = publish_new(runs, comparison, items, count, error);
    pthread_mutex_lock(&runs->mutex);
    forget_under_way(runs, &under_way);
    if (ok)
        for (size_t i = 0; i < count; i++)
            active_run_add(runs, items[i]);
    else
        run_queue_release(runs->queue, owner, count);
    if (ok)
        runs_wake_workers(runs);
    pthread_mutex_unlock(&runs->mutex);
    return ok;
}

bool runs_create(struct runs *runs, const struct run_request *request, struct run_record *run,
                 struct error *error) {
    struct run_record record;
    *run = (struct run_record){0};
    if (!run_record_prepare(runs, &record, request, error))
        return false;
    struct active_run *item = active_run_create(&record, request->experiment, request->parameters, error);
    if (item == NULL)
        return false;
    const struct share share = {request->queue_limit, request->network, request->network_limit};
    if (run_record_copy(run, &item->record, error) && runs_add(runs, NULL, &item, 1, &share, error))
        return true;
    run_record_clear(run);
    active_run_free(item);
    return false;
}
