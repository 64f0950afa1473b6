/* What an experiment is.
 *
 * A name, a table of declared parameters, and a run function; one file each in this folder and one line in
 * experiment_table (experiments.c). The server runs it on a worker thread, the command line in the
 * foreground; both see only this contract. An experiment writes its result to a sink, reports progress, asks
 * now and then whether it was cancelled, and knows nothing of HTTP, JSON, threads, files or clocks: what it
 * needs of those comes in through struct experiment_context. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_EXPERIMENT_H
#define ATTNLAB_CORE_EXPERIMENTS_EXPERIMENT_H

#include "core/error.h"
#include "core/experiments/result.h"
#include "core/parameters/check.h"
#include "core/stop_request.h"
#include "core/tasks/data_source.h"

/* One row of a run's metrics. Row 0 is before training: train_loss is NAN there. */
struct epoch_metrics {
    size_t epoch;
    double train_loss;    /* mean over the epoch's examples, as they were trained on */
    double test_accuracy; /* share of the test examples whose largest logit is the label's */
    double seconds;       /* since training began, by the context's clock */
};

/* What a run tells while it works. Every member may be NULL. Called from the thread that runs the
 * experiment; pointers are valid during the call only. A checkpoint call returns false where it could not be
 * stored: the run then ends with the error that the call set. */
struct experiment_listener {
    void *owner;
    void (*progress)(void *owner, size_t done, size_t total, const char *unit);
    void (*step)(void *owner, size_t step, double loss);
    /* One finished epoch (or row 0), in order: its metrics; `weights`: all parameters, in the model's order,
     * from which every attention matrix of that epoch can be computed again (core/training/inspection.h);
     * `checkpoint`: all that is needed to go on from here, to the bit (weights, Adam's moments, random
     * streams, position). The buffers belong to the run. */
    bool (*epoch)(void *owner, const struct epoch_metrics *metrics, const float *weights, size_t weight_count,
                  const void *checkpoint, size_t checkpoint_size, struct error *error);
};

/* Work that may be spread over idle cores: calls `work(argument, index)` for every index below `count`, in
 * any order, possibly at once, and returns when all are done. NULL in the context: do it in a loop. */
struct parallel_executor {
    void *owner;
    void (*run)(void *owner, size_t count, void (*work)(void *argument, size_t index), void *argument);
};

struct experiment_context {
    const struct parameter_set *parameters; /* checked, completed */
    struct result_sink result;
    struct experiment_listener listener;
    struct stop_request stop;                 /* whether the run was cancelled */
    double (*seconds_now)(void *clock_owner); /* a monotonic clock; never NULL */
    void *clock_owner;
    struct data_source data; /* the user's data sets and files */
    struct parallel_executor parallel;
    const void *checkpoint; /* NULL, or the last checkpoint of an interrupted run to go on from */
    size_t checkpoint_size;
};

bool experiment_is_cancelled(const struct experiment_context *context);
/* Whether the experiment may go on; else ERROR_CANCELLED. */
bool experiment_check_cancelled(const struct experiment_context *context, struct error *error);
double experiment_seconds_now(const struct experiment_context *context);
void experiment_report_progress(const struct experiment_context *context, size_t done, size_t total,
                                const char *unit);

struct experiment {
    const char *name;    /* as in the API: "attention-steps" */
    const char *title;   /* for people */
    const char *summary; /* one sentence: what it shows */
    const struct parameter_declaration *parameters;
    size_t parameter_count;
    /* Fills in the defaults that depend on other values, or on the memory that a run may take, after the
     * fixed ones. May be NULL. */
    bool (*complete)(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error);
    /* Checks what single declarations cannot: values that must fit together, data sets that must exist, a
     * size that must fit in memory (`memory_limit_bytes`). Adds faults. May be NULL. */
    void (*validate)(const struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults);
    bool (*run)(struct experiment_context *context, struct error *error);
    /* Whether runs have metrics, attention, weights: true for train only. */
    bool trains_model;
};

/* All experiments, in the order of the page; NULL-terminated. */
extern const struct experiment *const experiment_table[];
const struct experiment *experiment_find(const char *name);

/* Fixed defaults, then the experiment's own, then every check. Returns false on a failure of ours; the
 * user's faults are in `faults`. */
bool experiment_prepare(const struct experiment *experiment, struct parameter_set *set,
                        const struct data_source *data, unsigned long long memory_limit_bytes,
                        struct parameter_faults *faults, struct error *error);

#endif
