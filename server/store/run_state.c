/* Looks up the table of run states: see run_state.h. */
#include "server/store/run_state.h"

#include <string.h>

#define NAME(state, name, successors) name,
const char *const run_state_names[RUN_STATE_COUNT + 1] = {RUN_STATES(NAME, )};

/* If state `s` may follow a state, bit `s` of that state's entry is set. */
#define BIT(state)                          (1U << RUN_##state)
#define SUCCESSORS(state, name, successors) (successors),
static const unsigned successors_of[RUN_STATE_COUNT] = {RUN_STATES(SUCCESSORS, BIT)};

const char *run_state_name(enum run_state state) {
    return run_state_names[state];
}

int run_state_find(const char *name) {
    for (int state = 0; state < RUN_STATE_COUNT; state++)
        if (strcmp(name, run_state_names[state]) == 0)
            return state;
    return -1;
}

bool run_state_has_ended(enum run_state state) {
    return successors_of[state] == 0;
}

bool run_state_may_follow(enum run_state state, enum run_state next) {
    return (successors_of[state] & 1U << next) != 0;
}
