/* Runs: creating, following, cancelling and deleting runs and comparisons, and doing them.
 *
 * A run is durable before runs_create returns. Workers (workers.h) take runs from a queue that is fair
 * between owners; unfinished runs are kept in memory, ended ones in the store. What is given out is a copy,
 * so callers hold no locks. All functions may be called from any thread and block for at most one short
 * transaction. Metrics, weights and events are read from the store and the event log directly.
 *
 * May call store, formats, system and core; knows nothing of HTTP. Called by access, http (streams), api and
 * commands. */
#ifndef ATTNLAB_SERVER_RUNS_RUNS_H
#define ATTNLAB_SERVER_RUNS_RUNS_H

#include "server/runs/comparison_view.h"
#include "server/runs/datasets.h"
#include "server/runs/event_log.h"
#include "server/store/store.h"

struct runs_options {
    size_t worker_count;            /* 0: as many as cores */
    size_t queue_limit;             /* runs waiting in all; 0: 1000 */
    size_t queue_limit_per_owner;   /* 0: as queue_limit */
    size_t running_limit_per_owner; /* 0: none */
    const char *favourite_owner;    /* whom that does not bind, borrowed; NULL: nobody */
    int64_t attempt_spacing_ms;     /* a run's starts that are nearer to each other count as one; 0: 30 s */
    /* Which experiment an unfinished run of an earlier process belongs to; NULL: experiment_find. */
    const struct experiment *(*find_experiment)(const char *name);
};

struct runs;

/* Store, log and data sets are borrowed. Loads the unfinished runs; nothing runs before runs_start. */
struct runs *runs_open(const struct runs_options *options, struct store *store, struct event_log *log,
                       struct datasets *datasets, struct error *error);
bool runs_start(struct runs *runs, struct error *error);
/* Interrupts what is running within a training step and waits for the workers. The runs stay unfinished in
 * the store and go on from their last epoch after the next start. So do those that a killed process leaves;
 * but one that was left so several times in a row, over minutes and without another epoch, is taken to be the
 * cause, and fails. */
void runs_stop(struct runs *runs);
void runs_close(struct runs *runs);

struct run_request {
    const struct experiment *experiment;
    const struct parameter_set *parameters; /* prepared (experiment_prepare); copied */
    const char *name;                       /* NULL or "" for none */
    const char *owner;                      /* "" where nobody is told apart */
    size_t queue_limit;                     /* of the owner's waiting runs; 0: none but the queue's */
    /* From where: an owner that is a cookie is made anew with ease, so all that come from one network may
     * have this many waiting runs together; 0: no limit, and this run is none of them. Not stored: runs of
     * before a restart do not count. */
    const char *network; /* NULL: unknown */
    size_t network_limit;
};

/* ERROR_LIMIT: the queue is full (429). ERROR_UNAVAILABLE: it cannot be stored, or the service is ending.
 * `run` is filled in with a copy: clear it with run_record_clear. */
bool runs_create(struct runs *runs, const struct run_request *request, struct run_record *run,
                 struct error *error);
bool runs_find(struct runs *runs, const char *id, struct run_record *run, struct error *error);
/* The same without a copy: only whether it has ended. */
bool runs_find_ended(struct runs *runs, const char *id, bool *has_ended, struct error *error);
/* Newest first; release with run_records_free. */
bool runs_list(struct runs *runs, const struct run_filter *filter, struct run_record **list, size_t *count,
               struct error *error);
/* ERROR_CONFLICT where it has ended. A waiting run is cancelled at once, a running one within one training
 * step: its EVENT_END follows. `run` may be NULL. */
bool runs_cancel(struct runs *runs, const char *id, struct run_record *run, struct error *error);
/* ERROR_CONFLICT while it waits or runs. */
bool runs_delete(struct runs *runs, const char *id, struct error *error);

struct runs_counts {
    size_t workers;
    size_t by_state[RUN_STATE_COUNT]; /* now; of a final state: how many came to it since the process began */
    unsigned long long steps, epochs; /* since the process began */
};
void runs_count(struct runs *runs, struct runs_counts *counts);

struct comparison_request {
    const struct experiment *experiment;
    const char *name;
    const char *const *labels; /* [variant_count] */
    size_t variant_count;
    const int64_t *seeds; /* [seed_count] */
    size_t seed_count;
    const struct parameter_set *parameters; /* [variant_count][seed_count], prepared; copied */
    const char *owner;
    size_t queue_limit; /* these three as in run_request */
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
