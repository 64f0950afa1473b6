/* The environment of a long computation: a listener, a stop request, a clock, idle cores and a checkpoint to
 * continue from.
 *
 * The server and the command line fill it in; training and the experiments see only this interface. */
#ifndef ATTNLAB_CORE_TRAINING_RUN_HOST_H
#define ATTNLAB_CORE_TRAINING_RUN_HOST_H

#include "core/error.h"
#include "core/stop_request.h"

#include <stddef.h>

/* One row of a run's metrics. Row 0 is before training: train_loss is NAN there. */
struct epoch_metrics {
    size_t epoch;
    double train_loss;    /* mean over the epoch's examples, each taken at its training step */
    double test_accuracy; /* share of the test examples whose largest logit is the label's */
    double seconds;       /* since training began, by the host's clock */
};

/* Receives a run's reports. Every function may be NULL. The thread of the experiment calls them; pointers are
 * valid only during the call. `epoch` returns false if it cannot store the epoch; the run then ends with the
 * error that it set. */
struct run_listener {
    void *owner;
    void (*progress)(void *owner, size_t done, size_t total, const char *unit);
    void (*step)(void *owner, size_t step, double loss);
    /* Called for row 0 and after each epoch, in order. `weights` are all parameters in the model's order;
     * every attention matrix of the epoch can be recomputed from them (core/training/inspection.h).
     * `checkpoint` is everything needed to continue with identical bits: weights, the optimiser's moments,
     * random streams and progress. The run owns the buffers. */
    bool (*epoch)(void *owner, const struct epoch_metrics *metrics, const float *weights, size_t weight_count,
                  const void *checkpoint, size_t checkpoint_size, struct error *error);
};

/* Spreads work over idle cores: `run` calls `work(argument, index)` for every index below `count`, in any
 * order and possibly at the same time, and returns when all calls are done. If the host's `run` is NULL, call
 * in a loop. */
struct parallel_executor {
    void *owner;
    void (*run)(void *owner, size_t count, void (*work)(void *argument, size_t index), void *argument);
};

struct run_host {
    struct run_listener listener;
    struct stop_request stop;                 /* requested if the run is cancelled */
    double (*seconds_now)(void *clock_owner); /* a monotonic clock; never NULL */
    void *clock_owner;
    struct parallel_executor parallel;
    const void *checkpoint; /* NULL, or the last checkpoint of an interrupted run that continues */
    size_t checkpoint_size;
};

/* Returns whether the run may continue; false with ERROR_CANCELLED. */
bool run_host_check_cancelled(const struct run_host *host, struct error *error);
double run_host_seconds_now(const struct run_host *host);
void run_host_report_progress(const struct run_host *host, size_t done, size_t total, const char *unit);

#endif
