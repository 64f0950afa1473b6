/* What a long computation is given from outside: whom to tell, when to stop, what time it is, idle cores, and
 * where to go on from.
 *
 * The server and the command line fill it in; training and the experiments see only this. */
#ifndef ATTNLAB_CORE_TRAINING_RUN_HOST_H
#define ATTNLAB_CORE_TRAINING_RUN_HOST_H

#include "core/error.h"
#include "core/stop_request.h"

#include <stddef.h>

/* One row of a run's metrics. Row 0 is before training: train_loss is NAN there. */
struct epoch_metrics {
    size_t epoch;
    double train_loss;    /* mean over the epoch's examples, as they were trained on */
    double test_accuracy; /* share of the test examples whose largest logit is the label's */
    double seconds;       /* since training began, by the host's clock */
};

/* What a run tells while it works. Every member may be NULL. Called from the thread that runs the
 * experiment; pointers are valid during the call only. A call for an epoch returns false if it could not be
 * stored: the run then ends with the error that the call set. */
struct run_listener {
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
 * any order, possibly at once, and returns when all are done. NULL in the host: do it in a loop. */
struct parallel_executor {
    void *owner;
    void (*run)(void *owner, size_t count, void (*work)(void *argument, size_t index), void *argument);
};

struct run_host {
    struct run_listener listener;
    struct stop_request stop;                 /* whether the run was cancelled */
    double (*seconds_now)(void *clock_owner); /* a monotonic clock; never NULL */
    void *clock_owner;
    struct parallel_executor parallel;
    const void *checkpoint; /* NULL, or the last checkpoint of an interrupted run to go on from */
    size_t checkpoint_size;
};

/* Whether the run may go on; else ERROR_CANCELLED. */
bool run_host_check_cancelled(const struct run_host *host, struct error *error);
double run_host_seconds_now(const struct run_host *host);
void run_host_report_progress(const struct run_host *host, size_t done, size_t total, const char *unit);

#endif
