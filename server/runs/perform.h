/* Performs a run on a worker's thread. */
#ifndef ATTNLAB_SERVER_RUNS_PERFORM_H
#define ATTNLAB_SERVER_RUNS_PERFORM_H

#include "server/runs/internal.h"

/* Performs a run that was taken from the queue, until it ends or is interrupted. Stores and publishes its
 * reports and, finally, how it ended. */
void run_perform(struct runs *runs, struct active_run *run, const struct parallel_executor *parallel);

#endif
