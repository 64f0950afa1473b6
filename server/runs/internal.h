/* Internals of the run manager: the runs in memory, shared between its files.
 *
 * A run is active from its creation until its end is stored. Its record changes only under the manager's
 * lock, and only by the thread that holds the run: the worker that took it from the queue, or a canceller
 * that removed it from there. The lock is only held briefly, never during a transaction. From the bottom up
 * the files are: active (a run's record and its changes); suspects, perform; runs, lifecycle, create,
 * comparisons. */
#ifndef ATTNLAB_SERVER_RUNS_INTERNAL_H
#define ATTNLAB_SERVER_RUNS_INTERNAL_H

#include "core/experiments/experiment.h"
#include "server/runs/datasets.h"
#include "server/runs/disk_quota.h"
#include "server/runs/event_log.h"
#include "server/runs/queue.h"
#include "server/runs/workers.h"
#include "server/store/store.h"

#include <pthread.h>
#include <stdatomic.h>

enum interruption { INTERRUPTION_NONE, INTERRUPTION_CANCEL, INTERRUPTION_SHUTDOWN };

struct active_run {
    struct queue_entry entry; /* first, so that an entry from the queue is also the run */
    struct active_run *next, *previous;
    struct run_record record; /* guarded by the lock; progress is in the atomics below */
    const struct experiment *experiment;
    struct parameter_set parameters;
    _Atomic int interruption;
    _Atomic size_t progress_done, progress_total;
    bool is_suspect; /* guarded by the lock: waits to be tried alone (suspects.h) */
    bool is_unsaved; /* guarded by the lock: has ended, but the end could not be stored yet */
};

/* New runs that are being stored and are not in any list yet. */
struct runs_under_way {
    struct runs_under_way *next;
    const char *network;
    size_t count;
};

struct runs {
    struct store *store;
    struct event_log *log;
    struct datasets *datasets;
    size_t worker_count;
    struct disk_quota disk_quota;
    size_t keep_runs;
    int64_t attempt_spacing_ms;
    const struct experiment *(*find_experiment)(const char *name);
    struct workers *workers; /* NULL until runs_start */
    pthread_mutex_t mutex;
    /* Guarded by the mutex. */
    struct run_queue *queue;
    struct active_run *active; /* a list in no particular order */
    struct runs_under_way *under_way;
    size_t unsaved, suspects;
    char on_trial[ID_SIZE]; /* the run that must run alone; "" if none */
    bool is_stopping;
    size_t ended[RUN_STATE_COUNT];
    _Atomic unsigned long long steps, epochs;
};

/* Wakes idle workers, because there may be work. The caller holds the lock. */
static inline void runs_wake_workers(struct runs *runs) {
    if (runs->workers != NULL)
        workers_wake(runs->workers);
}

#endif
