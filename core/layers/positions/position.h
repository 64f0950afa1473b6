/* Positions: how a model knows the position of each step.
 *
 * A position adds something to the input of the model (`layer`), rotates queries and keys inside every
 * attention layer (`rotate`), or does nothing. Each has a file in this folder and a line in POSITION_TABLE.
 * The choices of the parameter `position`, its checks and the models all come from that table. */
#ifndef ATTNLAB_CORE_LAYERS_POSITIONS_POSITION_H
#define ATTNLAB_CORE_LAYERS_POSITIONS_POSITION_H

#include "core/layers/layer.h"

/* In the order in which people see them. The word is the name in the API; the C name is `position_` plus it.
 */
#define POSITION_TABLE(ENTRY)                                                                                \
    ENTRY(learned)                                                                                           \
    ENTRY(sinusoidal)                                                                                        \
    ENTRY(rotary)                                                                                            \
    ENTRY(none)

struct position {
    const char *name; /* as in the API: "learned" */

    /* The layer that adds the position to every step, [steps][width]; NULL: adds nothing. The addend depends
     * only on the parameters and the step, and the layer saves nothing from forward to backward. */
    const struct layer_type *layer;

    /* The width of an attention head must be a multiple of this; 0: any width is allowed. */
    size_t head_width_multiple;

    /* Both are set, or both are NULL and attention leaves queries and keys unchanged. fill_rotations writes
     * rotations[steps][head_width]. rotate rotates one head's query or key, vector[head_width], by its step's
     * row of rotations. `backward` undoes the rotation, as a gradient requires. */
    void (*fill_rotations)(float *rotations, size_t steps, size_t head_width);
    void (*rotate)(const float *rotation, float *vector, size_t head_width, bool backward);
};

#define POSITION_DECLARE(name) extern const struct position position_##name;
POSITION_TABLE(POSITION_DECLARE)
#undef POSITION_DECLARE

/* All positions, and their names for a parameter's choices; both NULL-terminated and in the same order. */
extern const struct position *const position_table[];
extern const char *const position_names[];

/* Returns NULL if no position has that name. */
const struct position *position_find(const char *name);

/* For these functions NULL is the position that does nothing. */
static inline bool position_rotates(const struct position *position) {
    return position != NULL && position->rotate != NULL;
}

static inline bool position_adds(const struct position *position) {
    return position != NULL && position->layer != NULL;
}

/* Whether attention with heads of this width supports the position. */
static inline bool position_fits(const struct position *position, size_t head_width) {
    return position == NULL || position->head_width_multiple == 0 ||
           head_width % position->head_width_multiple == 0;
}

#endif
