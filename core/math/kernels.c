/* The choice of a table: see kernels.h. */
#include "core/math/kernels.h"

const struct kernels *kernels_choose(void) {
    const enum lane_set chosen = lane_set_chosen();
#define TRY(set, runs)                                                                                       \
    if (chosen == lane_set_##set)                                                                            \
        return &kernels_##set;
    TRY_FAST_SETS(TRY)
#undef TRY
    return &kernels_plain;
}
