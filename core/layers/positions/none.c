/* No positions: attention sees a set of steps. */
#include "core/layers/positions/position.h"

const struct position position_none = {.name = "none"};
