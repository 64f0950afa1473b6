/* The states of a run, each declared once.
 *
 * This one table defines the enumeration, the names (in the API, in queries, in openapi.json, in the metrics
 * and on the page), the final states, and the allowed changes of state. The store saves a state's number, so
 * append a new state at the end and never remove one. */
#ifndef ATTNLAB_SERVER_STORE_RUN_STATE_H
#define ATTNLAB_SERVER_STORE_RUN_STATE_H

#include <stdbool.h>

/* Each state with its name and the states that may follow it; none follow a final state. A run that a restart
 * interrupts is queued again, and a queued run fails if it cannot begin. */
#define RUN_STATES(STATE, TO)                                                                                \
    STATE(QUEUED, "queued", TO(RUNNING) | TO(FAILED) | TO(CANCELLED))                                        \
    STATE(RUNNING, "running", TO(QUEUED) | TO(SUCCEEDED) | TO(FAILED) | TO(CANCELLED))                       \
    STATE(SUCCEEDED, "succeeded", 0)                                                                         \
    STATE(FAILED, "failed", 0)                                                                               \
    STATE(CANCELLED, "cancelled", 0)

#define RUN_STATE_ENUMERATOR(state, name, successors) RUN_##state,
enum run_state { RUN_STATES(RUN_STATE_ENUMERATOR, ) RUN_STATE_COUNT };
#undef RUN_STATE_ENUMERATOR

/* The names in the order of the enumeration, NULL-terminated: the choices of a query parameter. */
extern const char *const run_state_names[RUN_STATE_COUNT + 1];

const char *run_state_name(enum run_state state);
int run_state_find(const char *name); /* -1 for any other name */
/* Whether the state is final. */
bool run_state_has_ended(enum run_state state);
bool run_state_may_follow(enum run_state state, enum run_state next);

#endif
