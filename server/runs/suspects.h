/* Suspects: runs during which the process has died several times.
 *
 * Other runs were in progress each time, so any of them may be the cause. After the next start suspects are
 * therefore tried first and one at a time, and only the one that is the cause gets further blame. A trial
 * ends when the run finishes its next epoch, or ends. */
#ifndef ATTNLAB_SERVER_RUNS_SUSPECTS_H
#define ATTNLAB_SERVER_RUNS_SUSPECTS_H

#include "server/runs/internal.h"

/* Makes a run that was attempted too often a suspect. Call it before the workers start. */
void suspects_consider(struct runs *runs, struct active_run *run);
/* Whether a suspect is being tried, so that no other run may start. The caller holds the lock. */
bool suspects_have_trial(const struct runs *runs);
/* Begins the trial of the next suspect and takes it off the queue; NULL if none waits. The caller holds the
 * lock. */
struct active_run *suspects_begin_trial(struct runs *runs);
/* Ends the trial of this run, if it is on trial. */
void suspects_end_trial(struct runs *runs, const char *id);

#endif
