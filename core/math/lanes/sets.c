/* Which set of lanes a process runs: see sets.h. */
#include "core/math/lanes/sets.h"

#include <stddef.h>
#include <string.h>

/* LANE_SETS: the fastest. */
static enum lane_set selected = LANE_SETS;

enum lane_set lane_set_chosen(void) {
    if (selected != LANE_SETS)
        return selected;
#define TRY(set, runs)                                                                                       \
    if (runs)                                                                                                \
        return lane_set_##set;
    TRY_FAST_SETS(TRY)
#undef TRY
    return lane_set_plain;
}

bool lane_set_select(const char *name) {
#define TRY(set, runs)                                                                                       \
    if ((runs) && strcmp(name, #set) == 0) {                                                                 \
        selected = lane_set_##set;                                                                           \
        return true;                                                                                         \
    }
    TRY_SETS(TRY)
#undef TRY
    return false;
}

void lane_set_list(const char *names[LANE_SETS + 1]) {
    size_t count = 0;
#define TRY(set, runs)                                                                                       \
    if (runs)                                                                                                \
        names[count++] = #set;
    TRY_SETS(TRY)
#undef TRY
    names[count] = NULL;
}
