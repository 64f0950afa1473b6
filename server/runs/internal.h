/* Inside the run manager: the runs in memory, as its files share them.
 *
 * A run is active from its creation until its end is stored. Its record is changed only under the manager's
 * lock and only by whoever holds the run: the worker that took it from the queue, or a canceller that took it
 * out. The lock is held for moments, never over a transaction. From below: active (a run's record and how it
 * changes), suspects, perform; runs, lifecycle, create, comparisons. */
#ifndef ATTNLAB_SERVER_RUNS_INTERNAL_H
#define ATTNLAB_SERVER_RUNS_INTERNAL_H

#include "core/experiments/experiment.h"
#include "server/runs/datasets.h"
#include "server/runs/event_log.h"
#include "server/runs/queue.h"
#include "server/runs/workers.h"
#include "server/store/store.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

enum interruption { INTERRUPTION_NONE, INTERRUPTION_CANCEL, INTERRUPTION_SHUTDOWN };

struct active_run {
    struct queue_entry entry; /* first: what the queue gives back is the run */
    struct active_run *next, *previous;
    struct run_record record; /* under the lock; progress is in the atomics below */
    const struct experiment *experiment;
    struct parameter_set parameters;
    _Atomic int interruption;
    _Atomic size_t progress_done, progress_total;
    bool is_suspect;                /* under the lock: it waits to be tried alone (suspects.h) */
    bool is_unsaved;                /* under the lock: it has ended, but that could not be stored yet */
    char network[INET6_ADDRSTRLEN]; /* where it was asked for; "" where that limits nothing */
};

/* New runs that are being stored and are in no list yet. */
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
    int64_t attempt_spacing_ms;
    const struct experiment *(*find_experiment)(const char *name);
    struct workers *workers; /* NULL until runs_start */
    pthread_mutex_t mutex;
    /* Under the mutex. */
    struct run_queue *queue;
    struct active_run *active; /* a list without order */
    struct runs_under_way *under_way;
    size_t unsaved, suspects;
    char on_trial[ID_SIZE]; /* the run that nothing begins beside; "" for none */
    bool is_stopping;
    size_t ended[RUN_STATE_COUNT];
    _Atomic unsigned long long steps, epochs;
};

/* With the lock held: there may be something for idle workers. */
static inline void runs_wake_workers(struct runs *runs) {
    if (runs->workers != NULL)
        workers_wake(runs->workers);
}

#endif
