/* The choice of a table: see kernels.h. */
#include "core/math/kernels.h"

const struct kernels *kernels_choose(void) {
#define TRY(set, runs)                                                                                       \
    if (runs)                                                                                                \
        return &kernels_##set;
    TRY_FAST_SETS(TRY)
#undef TRY
    return &kernels_plain;
}
