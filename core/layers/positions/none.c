/* No positions: attention sees the steps as a set. */
#include "core/layers/positions/position.h"

const struct position position_none = {.name = "none"};
