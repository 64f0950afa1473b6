/* The record of an active run. It changes in only one way: it is stored together with the events that report
 * the change. */
#ifndef ATTNLAB_SERVER_RUNS_ACTIVE_H
#define ATTNLAB_SERVER_RUNS_ACTIVE_H

#include "server/runs/internal.h"

/* Creates a run that is not yet in the list; takes over `record`. */
struct active_run *active_run_create(struct run_record *record, const struct experiment *experiment,
                                     const struct parameter_set *parameters, struct error *error);
void active_run_free(struct active_run *run);
/* The caller holds the lock. */
struct active_run *active_run_find(struct runs *runs, const char *id);
bool active_run_copy_record(const struct active_run *run, struct run_record *copy, struct error *error);
/* Adds the run to the list, and to the queue, where a place has been reserved for it. The caller holds the
 * lock. */
void active_run_add(struct runs *runs, struct active_run *run);
/* Removes the run from the list and frees it. The caller holds the lock. */
void active_run_remove(struct runs *runs, struct active_run *run);

/* The state event of a record, or its end event. */
struct event *run_event_create(const struct run_record *record, enum event_kind kind, struct error *error);
/* Stores a changed record together with the events that report the change: its state, and its end if it has
 * ended. Before they are shown, `run` (NULL if it is not in memory) takes over state and start time or, if it
 * has ended, is removed from memory. */
bool active_run_publish(struct runs *runs, struct active_run *run, const struct run_record *record,
                        bool acknowledged, struct error *error);
/* Ends a run that the caller holds: stores the end, publishes it, then removes the run from memory. Takes
 * over `result_json`. Returns false with ERROR_MEMORY if memory is short; then the run is unchanged and the
 * result still belongs to the caller. If the end cannot be stored: with `must_be_stored`, likewise returns
 * false and changes nothing; otherwise the run stays in memory as ended, its end is published, and
 * active_runs_save tries to store it later. */
bool active_run_finish(struct runs *runs, struct active_run *run, enum run_state state, char *result_json,
                       const char *message, bool must_be_stored, struct error *error);
/* Tries again to store runs whose end could not be stored. */
void active_runs_save(struct runs *runs);

#endif
