/* A cache of opened models of ended and running runs.
 *
 * Opening an inspection generates the run's data and builds its model, so the last few stay open, as long as
 * all together take no more memory than they may. Only one thread at a time uses an inspection;
 * inspector_acquire_run and inspector_acquire_parameters wait for it. Call them only from background threads.
 */
#ifndef ATTNLAB_SERVER_RUNS_INSPECTOR_H
#define ATTNLAB_SERVER_RUNS_INSPECTOR_H

#include "core/training/inspection.h"
#include "server/runs/datasets.h"
#include "server/store/store.h"

struct inspector;

/* One inspection in use. */
struct inspector_slot {
    struct inspection *inspection;
    size_t epoch; /* the epoch whose weights are loaded; STORE_LAST_EPOCH if none are */
    struct stop_request stop;
};

/* Store and data sets are borrowed. All open inspections together take at most `memory` bytes. */
struct inspector *inspector_open(struct store *store, struct datasets *datasets, size_t memory,
                                 struct error *error);
void inspector_close(struct inspector *inspector);

/* For both: ERROR_TOO_LARGE, with the size, if one inspection takes more memory than all may. `stop`
 * interrupts the opening, and the work with the slot until it is released.
 *
 * Opens the model of a train run with the weights of `epoch` (or STORE_LAST_EPOCH). ERROR_MISSING if the run
 * or the epoch does not exist, ERROR_CONFLICT if the experiment does not train a model, if no epoch has been
 * trained yet, or if the run's data set was deleted. The caller releases it. */
struct inspector_slot *inspector_acquire_run(struct inspector *inspector, const char *run_id, size_t epoch,
                                             struct stop_request stop, struct error *error);
/* Opens the model and the data that prepared `train` parameters describe, without weights. `key` identifies
 * them. */
struct inspector_slot *inspector_acquire_parameters(struct inspector *inspector, const char *key,
                                                    const struct parameter_set *parameters,
                                                    struct stop_request stop, struct error *error);
void inspector_release(struct inspector *inspector, struct inspector_slot *slot);

#endif
