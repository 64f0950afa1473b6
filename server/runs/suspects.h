/* Runs under which the process died several times.
 *
 * Other runs were at work beside each of them. So after the next start suspects are tried first and alone,
 * and only the one that is the cause is blamed further. A trial ends with the run's next epoch or with the
 * run. */
#ifndef ATTNLAB_SERVER_RUNS_SUSPECTS_H
#define ATTNLAB_SERVER_RUNS_SUSPECTS_H

#include "server/runs/internal.h"

/* Before the workers start: a run that was attempted too often becomes a suspect. */
void suspects_consider(struct runs *runs, struct active_run *run);
/* With the lock held: whether a suspect is being tried, so that nothing may begin beside it. */
bool suspects_have_trial(const struct runs *runs);
/* With the lock held: begins the trial of the next suspect, which it takes off the queue; NULL if none waits.
 */
struct active_run *suspects_begin_trial(struct runs *runs);
/* Ends the trial of this run, if it is on trial. */
void suspects_end_trial(struct runs *runs, const char *id);

#endif
