/* Creating runs, one or many at once: what runs_create and comparisons share. */
#ifndef ATTNLAB_SERVER_RUNS_CREATE_H
#define ATTNLAB_SERVER_RUNS_CREATE_H

#include "server/runs/internal.h"
#include "server/runs/runs.h"

/* How many runs may wait: see run_request. */
struct share {
    size_t own_limit;
    const char *network;
    size_t network_limit;
};

/* Fills in id, times and texts of a new run's record. */
bool run_record_prepare(struct run_record *record, const struct run_request *request, struct error *error);
/* Stores new runs with the comparison they form (NULL: none) and queues them; takes over `items` if it
 * succeeds. */
bool runs_add(struct runs *runs, const struct comparison_record *comparison, struct active_run **items,
              size_t count, const struct share *share, struct error *error);

#endif
