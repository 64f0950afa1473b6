/* Inside the run manager: the runs in memory, and what its files share.
 *
 * A run is active from its creation until its end is stored. Its record is changed only under the manager's
 * lock and only by whoever holds the run: the worker that took it from the queue, or a canceller that took it
 * out. The lock is held for moments, never over a transaction. */
#ifndef ATTNLAB_SERVER_RUNS_INTERNAL_H
#define ATTNLAB_SERVER_RUNS_INTERNAL_H

#include "server/runs/queue.h"
#include "server/runs/runs.h"
#include "server/runs/workers.h"

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
    bool is_suspect;                /* under the lock: it waits to be tried alone (runs_end_trial) */
    bool is_unsaved;                /* under the lock: it has ended, but that could not be stored yet */
    char network[INET6_ADDRSTRLEN]; /* where it was asked for; "" where that limits nothing */
};

/* How many runs may wait: see run_request. */
struct share {
    size_t own_limit;
    const char *network;
    size_t network_limit;
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

/* Makes a run that nobody knows yet; takes over `record`. */
struct active_run *active_run_create(struct run_record *record, const struct experiment *experiment,
                                     const struct parameter_set *parameters, struct error *error);
void active_run_free(struct active_run *run);
/* With the lock held. */
struct active_run *active_run_find(struct runs *runs, const char *id);
bool active_run_copy_record(const struct active_run *run, struct run_record *copy, struct error *error);
/* Puts it into the list and on the queue, where a place is reserved for it; with the lock held. */
void active_run_add(struct runs *runs, struct active_run *run);
/* Takes it out of the list and frees it, with the lock held. */
void active_run_remove(struct runs *runs, struct active_run *run);

/* Fills in id, times and texts of a new run's record. */
bool run_record_prepare(struct run_record *record, const struct run_request *request, struct error *error);
/* Stores new runs with the comparison they form (NULL: none) and queues them; takes over `items` if it
 * succeeds. */
bool runs_add(struct runs *runs, const struct comparison_record *comparison, struct active_run **items,
              size_t count, const struct share *share, struct error *error);

/* The state event of a record, or its end event. */
struct event *run_event_create(const struct run_record *record, enum event_kind kind, struct error *error);
/* Stores a changed record together with the events that tell of it: its state, and its end if it has ended.
 * Before they are shown, `run` (NULL: none is in memory) takes over state and start, or is forgotten if it
 * has ended. */
bool run_record_publish(struct runs *runs, struct active_run *run, const struct run_record *record,
                        bool acknowledged, struct error *error);
/* Ends a run that the caller holds: stores and tells it, then forgets it. `result_json` is taken over. False
 * with ERROR_MEMORY: the run is as before and the result still the caller's. Where it cannot be stored: false
 * if `must_be_stored`, and all is as before too; else the run stays in memory as ended, which is told, and
 * storing it is tried again. */
bool run_finish(struct runs *runs, struct active_run *run, enum run_state state, char *result_json,
                const char *message, bool must_be_stored, struct error *error);
/* Tries again to store what has ended. */
void runs_save_unsaved(struct runs *runs);

/* With the lock held: there may be something for idle workers. */
void runs_wake_workers(struct runs *runs);
/* The process died under a suspect several times, but other runs were at work beside it: so after the next
 * start it is tried first and alone, and only the one that is the cause is blamed further. Its trial ends
 * with its next epoch or with the run. */
void runs_end_trial(struct runs *runs, const char *id);

/* Does a run, on a worker's thread (perform.c). */
void run_perform(struct runs *runs, struct active_run *run, const struct parallel_executor *parallel);

#endif
