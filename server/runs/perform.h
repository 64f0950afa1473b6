/* Doing a run, on a worker's thread. */
#ifndef ATTNLAB_SERVER_RUNS_PERFORM_H
#define ATTNLAB_SERVER_RUNS_PERFORM_H

#include "server/runs/internal.h"

/* Runs the experiment of a run that was taken from the queue, to its end or until it is interrupted, stores
 * and tells what it reports, and in the end how it ended. */
void run_perform(struct runs *runs, struct active_run *run, const struct parallel_executor *parallel);

#endif
