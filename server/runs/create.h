/* Creates one run or many at once, for runs_create and for comparisons. */
#ifndef ATTNLAB_SERVER_RUNS_CREATE_H
#define ATTNLAB_SERVER_RUNS_CREATE_H

#include "server/runs/internal.h"
#include "server/runs/runs.h"

/* The limits on waiting runs: see run_request. */
struct share {
    size_t own_limit;
    const char *network;
    size_t network_limit;
};

/* Fills in the id, data set, times and texts of a new run's record. */
bool run_record_prepare(struct runs *runs, struct run_record *record, const struct run_request *request,
                        struct error *error);
/* Stores new runs, with the comparison they form (NULL if none), and queues them. Takes over `items` on
 * success. */
bool runs_add(struct runs *runs, const struct comparison_record *comparison, struct active_run **items,
              size_t count, const struct share *share, struct error *error);

#endif
