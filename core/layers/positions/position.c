/* The table of positions: see position.h. */
#include "core/layers/positions/position.h"

#include <string.h>

#define POSITION_ADDRESS(name) &position_##name,
#define POSITION_NAME(name)    #name,

const struct position *const position_table[] = {POSITION_TABLE(POSITION_ADDRESS) NULL};
const char *const position_names[] = {POSITION_TABLE(POSITION_NAME) NULL};

const struct position *position_find(const char *name) {
    for (size_t i = 0; position_table[i] != NULL; i++)
        if (strcmp(position_table[i]->name, name) == 0)
            return position_table[i];
    return NULL;
}
