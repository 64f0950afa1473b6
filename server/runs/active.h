/* A run's record while it is active, and the one way in which it changes: stored together with the events
 * that tell of the change. */
#ifndef ATTNLAB_SERVER_RUNS_ACTIVE_H
#define ATTNLAB_SERVER_RUNS_ACTIVE_H

#include "server/runs/internal.h"

/* Makes a run that nobody knows yet; takes over `record`. */
struct active_run *active_run_create(struct run_record *record, const struct experiment *experiment,
                                     const struct parameter_set *parameters, struct error *error);
void active_run_free(struct active_run *run);
/* With the lock held. */
struct active_run *active_run_find(struct runs *runs, const char *id);
bool active_run_copy_record(const struct active_run *run, struct run_record *copy, struct error *error);
/* Puts it into the list and on the queue, where a place is reserved for it; with the lock held. */
void active_run_add(struct runs *runs, struct active_run *run);
/* Takes it out of the list and frees it, with the lock held. */
void active_run_remove(struct runs *runs, struct active_run *run);

/* The state event of a record, or its end event. */
struct event *run_event_create(const struct run_record *record, enum event_kind kind, struct error *error);
/* Stores a changed record together with the events that tell of it: its state, and its end if it has ended.
 * Before they are shown, `run` (NULL: none is in memory) takes over state and start, or is forgotten if it
 * has ended. */
bool active_run_publish(struct runs *runs, struct active_run *run, const struct run_record *record,
                        bool acknowledged, struct error *error);
/* Ends a run that the caller holds: stores and tells it, then forgets it. `result_json` is taken over. False
 * with ERROR_MEMORY: the run is as before and the result still the caller's. Where it cannot be stored: false
 * if `must_be_stored`, and all is as before too; else the run stays in memory as ended, which is told, and
 * storing it is tried again. */
bool active_run_finish(struct runs *runs, struct active_run *run, enum run_state state, char *result_json,
                       const char *message, bool must_be_stored, struct error *error);
/* Tries again to store what has ended. */
void active_runs_save(struct runs *runs);

#endif
