/* Creates, follows, cancels, deletes and performs runs and comparisons.
 *
 * A run is durable before runs_create returns. Workers (workers.h) take runs from a queue that is fair
 * between owners; unfinished runs are kept in memory, ended ones in the store. Callers get copies, so they
 * hold no locks. All functions may be called from any thread and block for at most one short transaction.
 * Metrics, weights and events are read directly from the store and the event log.
 *
 * May call store, formats, system and core; knows nothing of HTTP. Called by access, http (streams), api and
 * commands. */
#ifndef ATTNLAB_SERVER_RUNS_RUNS_H
#define ATTNLAB_SERVER_RUNS_RUNS_H

#include "server/runs/comparison_view.h"
#include "server/runs/datasets.h"
#include "server/runs/disk_quota.h"
#include "server/runs/event_log.h"
#include "server/store/store.h"

struct runs_options {
    size_t worker_count;            /* 0: as many as cores */
    size_t queue_limit;             /* of all waiting runs; 0: 1000 */
    size_t queue_limit_per_owner;   /* 0: the same as queue_limit */
    size_t running_limit_per_owner; /* 0: no limit */
    const char *favourite_owner;    /* the owner to whom that limit does not apply, borrowed; NULL: nobody */
    size_t queue_kept;              /* places in the queue that only that owner may take */
    struct disk_quota disk_quota;
    size_t keep_runs;           /* how many ended runs are kept (struct prune_rule); 0: all */
    int64_t attempt_spacing_ms; /* starts of a run that are closer together count as one; 0: 30 s */
    /* Finds the experiment of an unfinished run from an earlier process; NULL: experiment_find. */
    const struct experiment *(*find_experiment)(const char *name);
};

struct runs;

/* Borrows store, log and data sets. Loads the unfinished runs; none is performed before runs_start. */
struct runs *runs_open(const struct runs_options *options, struct store *store, struct event_log *log,
                       struct datasets *datasets, struct error *error);
bool runs_start(struct runs *runs, struct error *error);
/* Interrupts running runs within a training step and waits for the workers. The runs stay unfinished in the
 * store and continue from their last epoch after the next start. Runs that a killed process leaves do the
 * same. But if that happens to a run several times in a row, over minutes and without another epoch, the run
 * is assumed to be the cause, and it fails. */
void runs_stop(struct runs *runs);
void runs_close(struct runs *runs);

struct run_request {
    const struct experiment *experiment;
    const struct parameter_set *parameters; /* prepared (experiment_prepare); copied */
    const char *name;                       /* NULL or "" if it has none */
    const char *owner;                      /* "" if owners are not distinguished */
    size_t queue_limit;                     /* of the owner's waiting runs; 0: only the queue's limits */
    /* A student can easily get a new cookie, and with it become a new owner. So all runs from one network
     * share this limit of waiting runs. 0: no limit, and this run does not count. */
    const char *network; /* as in struct run_record; NULL: unknown */
    size_t network_limit;
};

/* ERROR_LIMIT: the queue is full (429). ERROR_TOO_LARGE: so many runs can never wait. ERROR_UNAVAILABLE: the
 * run cannot be stored, or the service is ending. Fills in `run` with a copy, which the caller clears with
 * run_record_clear. */
bool runs_create(struct runs *runs, const struct run_request *request, struct run_record *run,
                 struct error *error);
bool runs_find(struct runs *runs, const char *id, struct run_record *run, struct error *error);
/* Like runs_find, but without a copy: says only whether the run has ended. */
bool runs_find_ended(struct runs *runs, const char *id, bool *has_ended, struct error *error);
/* Newest first; release with run_records_free. */
bool runs_list(struct runs *runs, const struct run_filter *filter, struct run_record **list, size_t *count,
               struct error *error);
/* ERROR_CONFLICT if the run has ended. A waiting run is cancelled at once, a running one within one training
 * step; its EVENT_END follows. `run` may be NULL. */
bool runs_cancel(struct runs *runs, const char *id, struct run_record *run, struct error *error);
/* ERROR_CONFLICT if the run has not ended. */
bool runs_delete(struct runs *runs, const char *id, struct error *error);
/* Deletes up to filter->limit ended runs that fit. Sets *deleted to their number, also if it fails half way.
 */
bool runs_delete_ended(struct runs *runs, const struct run_filter *filter, size_t *deleted,
                       struct error *error);

/* Whether the owner may store `bytes` more: see disk_quota_check. */
bool runs_check_disk(struct runs *runs, const char *owner, size_t bytes, struct error *error);

struct runs_counts {
    size_t workers;
    size_t by_state[RUN_STATE_COUNT]; /* now; for a final state, the total since the process began */
    unsigned long long steps, epochs; /* since the process began */
};
void runs_count(struct runs *runs, struct runs_counts *counts);

struct comparison_request {
    const struct experiment *experiment;
    const char *name;
    const char *const *labels; /* [variant_count] */
    size_t variant_count;
    const int64_t *seeds; /* [seed_count]; NULL, with a count of 1, if the experiment takes no seed */
    size_t seed_count;
    const struct parameter_set *parameters; /* [variant_count][seed_count], prepared; copied */
    const char *owner;
    size_t queue_limit; /* this and the next two as in run_request */
    const char *network;
    size_t network_limit;
};

bool runs_create_comparison(struct runs *runs, const struct comparison_request *request,
                            struct comparison_view *view, struct error *error);
bool runs_find_comparison(struct runs *runs, const char *id, struct comparison_view *view,
                          struct error *error);
bool runs_list_comparisons(struct runs *runs, const char *before, size_t limit, struct comparison_view **list,
                           size_t *count, struct error *error);
bool runs_cancel_comparison(struct runs *runs, const char *id, struct comparison_view *view,
                            struct error *error);
bool runs_delete_comparison(struct runs *runs, const char *id, struct error *error);
#endif
