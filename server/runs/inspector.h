/* Opened models of ended and running runs, kept for the next question.
 *
 * Opening an inspection draws the run's data and builds its model, so the last few stay open. One is used by
 * one thread at a time: inspector_acquire waits for it. To be called from background threads only. */
#ifndef ATTNLAB_SERVER_RUNS_INSPECTOR_H
#define ATTNLAB_SERVER_RUNS_INSPECTOR_H

#include "core/training/inspection.h"
#include "server/store/store.h"

struct inspector;

/* One inspection in use. */
struct inspector_slot {
    struct inspection *inspection;
    size_t epoch; /* whose weights are loaded; STORE_LAST_EPOCH: none */
};

struct inspector *inspector_open(struct store *store, struct data_source data, struct error *error);
void inspector_close(struct inspector *inspector);

/* A train run's model with the weights of `epoch` (or STORE_LAST_EPOCH). ERROR_MISSING where there is no such
 * run or epoch, ERROR_CONFLICT where the experiment trains no model or nothing is trained yet. Release it. */
struct inspector_slot *inspector_acquire_run(struct inspector *inspector, const char *run_id, size_t epoch,
                                             struct error *error);
/* The model and data that prepared `train` parameters describe, without weights. `key` tells them from
 * others. */
struct inspector_slot *inspector_acquire_parameters(struct inspector *inspector, const char *key,
                                                    const struct parameter_set *parameters,
                                                    struct error *error);
void inspector_release(struct inspector *inspector, struct inspector_slot *slot);

#endif
