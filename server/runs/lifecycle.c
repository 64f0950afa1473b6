/* The run manager's life: opens it with the unfinished runs of an earlier process, and starts and stops the
 * workers. */
#include "server/formats/json_parameters.h"
#include "server/runs/active.h"
#include "server/runs/perform.h"
#include "server/runs/runs.h"
#include "server/runs/suspects.h"
#include "server/system/clock.h"

#include <stdlib.h>
#include <string.h>

enum {
    QUEUE_LIMIT = 1000,
    WORKER_NICENESS = 10,
    ATTEMPTS_LIMIT = 5,
    ATTEMPT_SPACING_MS = 30000,
    PRUNED_AT_ONCE = 50
};

/* Ends a stored run that can no longer be performed. */
static bool give_up(struct runs *runs, struct run_record *record, const char *reason, struct error *error) {
    if (!run_record_set_state(record, RUN_FAILED, error))
        return false;
    record->finished_ms = clock_wall_ms();
    free(record->error);
    record->error = strdup(reason);
    return active_run_publish(runs, NULL, record, false, error);
}

/* Finds the experiment and the parameters of an unfinished run. Returns NULL, with the reason, if it can no
 * longer be performed. */
static const struct experiment *find_work(struct runs *runs, const struct run_record *record,
                                          struct parameter_set *parameters, struct error *reason) {
    if (record->is_damaged) {
        error_set(reason, ERROR_DAMAGED, "what is stored of this run is damaged");
        return NULL;
    }
    const struct experiment *experiment = runs->find_experiment(record->experiment);
    if (experiment == NULL) {
        error_set(reason, ERROR_MISSING, "this version of attnlab has no experiment %.80s",
                  record->experiment);
        return NULL;
    }
    if (record->state == RUN_RUNNING && record->attempts >= ATTEMPTS_LIMIT) {
        error_set(reason, ERROR_INTERNAL,
                  "the service died at least %zu times while it worked on this run, each time before the "
                  "next epoch ended; the run may need more memory than there is, so try a smaller one",
                  record->attempts);
        return NULL;
    }
    return json_restore_parameters(record->parameters_json, experiment->parameters,
                                   experiment->parameter_count, parameters, reason)
               ? experiment
               : NULL;
}

/* Puts an unfinished run back into the queue. Takes over the record. */
static bool restore_run(struct runs *runs, struct run_record *record, struct error *error) {
    struct error reason = {0};
    struct parameter_set parameters = {0};
    const struct experiment *experiment = find_work(runs, record, &parameters, &reason);
    if (experiment == NULL) {
        bool ok = give_up(runs, record, reason.message, error);
        parameter_set_free(&parameters);
        run_record_clear(record);
        return ok;
    }
    bool ok = record->state == RUN_QUEUED || (run_record_set_state(record, RUN_QUEUED, error) &&
                                              active_run_publish(runs, NULL, record, false, error));
    struct active_run *run = NULL;
    if (ok)
        run = active_run_create(record, experiment, &parameters, error);
    else
        run_record_clear(record);
    parameter_set_free(&parameters);
    if (run == NULL)
        return false;
    if (!run_queue_reserve(runs->queue, run->record.owner, 1, QUEUE_WITHOUT_LIMITS, error)) {
        active_run_free(run);
        return false;
    }
    active_run_add(runs, run);
    suspects_consider(runs, run);
    return true;
}

static bool restore_runs(struct runs *runs, struct error *error) {
    struct run_record *records = NULL;
    size_t count = 0;
    bool ok = runs->store->list_unfinished_runs(runs->store, &records, &count, error);
    for (size_t i = 0; i < count; i++) {
        struct error failure = {0};
        if (!ok)
            run_record_clear(&records[i]);
        else if (!restore_run(runs, &records[i], &failure) && failure.code != ERROR_DAMAGED &&
                 failure.code != ERROR_MISSING) /* a damaged run stays as it is; the others go on */
            ok = error_set(error, failure.code, "%s", failure.message);
    }
    free(records);
    return ok;
}

struct runs *runs_open(const struct runs_options *options, struct store *store, struct event_log *log,
                       struct datasets *datasets, struct error *error) {
    struct runs *runs = calloc(1, sizeof *runs);
    if (runs == NULL) {
        error_set_memory(error, sizeof *runs);
        return NULL;
    }
    runs->store = store;
    runs->log = log;
    runs->datasets = datasets;
    runs->worker_count = options->worker_count;
    runs->disk_quota = options->disk_quota;
    runs->keep_runs = options->keep_runs;
    runs->attempt_spacing_ms =
        options->attempt_spacing_ms > 0 ? options->attempt_spacing_ms : ATTEMPT_SPACING_MS;
    runs->find_experiment = options->find_experiment != NULL ? options->find_experiment : experiment_find;
    pthread_mutex_init(&runs->mutex, NULL);
    size_t limit = options->queue_limit > 0 ? options->queue_limit : QUEUE_LIMIT;
    const struct queue_limits limits = {
        .waiting = limit,
        .waiting_per_owner = options->queue_limit_per_owner > 0 ? options->queue_limit_per_owner : limit,
        .out_per_owner = options->running_limit_per_owner,
        .favourite = options->favourite_owner,
        .kept = options->queue_kept};
    runs->queue = run_queue_create(&limits, error);
    if (runs->queue != NULL && restore_runs(runs, error))
        return runs;
    runs_close(runs);
    return NULL;
}

void runs_close(struct runs *runs) {
    if (runs == NULL)
        return;
    runs_stop(runs);
    while (runs->active != NULL)
        active_run_remove(runs, runs->active);
    run_queue_free(runs->queue);
    pthread_mutex_destroy(&runs->mutex);
    free(runs);
}

/* The next run, or NULL. The caller holds the lock. */
static struct queue_entry *choose_run(struct runs *runs) {
    if (runs->is_stopping || suspects_have_trial(runs))
        return NULL;
    struct active_run *suspect = suspects_begin_trial(runs);
    return suspect != NULL ? &suspect->entry : run_queue_pop(runs->queue);
}

/* struct worker_callbacks' take. */
static void *take_run(void *owner) {
    struct runs *runs = owner;
    pthread_mutex_lock(&runs->mutex);
    bool has_unsaved = runs->unsaved > 0;
    struct queue_entry *entry = choose_run(runs);
    pthread_mutex_unlock(&runs->mutex);
    if (has_unsaved)
        active_runs_save(runs);
    return entry;
}

/* Deletes the oldest ended runs if there are more than are kept. */
static void prune_runs(struct runs *runs) {
    const struct prune_rule rule = {runs->keep_runs, runs->disk_quota.lecturer, PRUNED_AT_ONCE};
    size_t deleted = runs->keep_runs > 0;
    while (deleted > 0 && runs->store->prune_runs(runs->store, &rule, &deleted, NULL)) {
        /* until none is left to delete */
    }
}

/* struct worker_callbacks' perform. If the end of this run lets another run of the same owner start, this
 * worker takes it, so no other worker needs waking. */
static void perform_run(void *owner, void *task, const struct parallel_executor *parallel) {
    struct runs *runs = owner;
    struct active_run *run = task;
    struct queue_lane *lane = run->entry.lane;
    run_perform(runs, run, parallel);
    prune_runs(runs);
    pthread_mutex_lock(&runs->mutex);
    run_queue_leave(runs->queue, lane);
    pthread_mutex_unlock(&runs->mutex);
}

bool runs_start(struct runs *runs, struct error *error) {
    prune_runs(runs);
    struct worker_callbacks callbacks = {
        .owner = runs, .take = take_run, .perform = perform_run, .niceness = WORKER_NICENESS};
    struct workers *workers = workers_start(runs->worker_count, &callbacks, error);
    if (workers == NULL)
        return false;
    pthread_mutex_lock(&runs->mutex);
    runs->workers = workers;
    pthread_mutex_unlock(&runs->mutex);
    return true;
}

void runs_stop(struct runs *runs) {
    pthread_mutex_lock(&runs->mutex);
    runs->is_stopping = true;
    for (struct active_run *run = runs->active; run != NULL; run = run->next) {
        int none = INTERRUPTION_NONE;
        atomic_compare_exchange_strong(&run->interruption, &none, INTERRUPTION_SHUTDOWN);
    }
    struct workers *workers = runs->workers;
    runs->workers = NULL;
    pthread_mutex_unlock(&runs->mutex);
    if (workers == NULL)
        return;
    /* Called before waiting, because the process may be killed while it waits for a long training step; and
     * again afterwards, for a run that was just starting. */
    runs->store->forgive_attempts(runs->store, NULL);
    workers_stop(workers);
    runs->store->forgive_attempts(runs->store, NULL);
    active_runs_save(runs);
}
