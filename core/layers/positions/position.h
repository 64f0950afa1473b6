/* Positions: how the steps of a sequence tell where they are.
 *
 * A position adds something to the input of the model (`layer`), or turns queries and keys inside every
 * attention layer (`rotate`), or does nothing. Each has a file in this folder and a line in POSITION_TABLE;
 * the choices of the parameter `position`, its checks and the models all come from that table. */
#ifndef ATTNLAB_CORE_LAYERS_POSITIONS_POSITION_H
#define ATTNLAB_CORE_LAYERS_POSITIONS_POSITION_H

#include "core/layers/layer.h"

/* In the order in which people see them. The word is the name in the API, and what follows `position_`. */
#define POSITION_TABLE(ENTRY)                                                                                \
    ENTRY(learned)                                                                                           \
    ENTRY(sinusoidal)                                                                                        \
    ENTRY(rotary)                                                                                            \
    ENTRY(none)

struct position {
    const char *name; /* as in the API: "learned" */

    /* The layer that adds the position to every step, [steps][width]; NULL: nothing is added. What it adds
     * depends on its parameters and the step alone, and it keeps nothing from forward to backward. */
    const struct layer_type *layer;

    /* The width of an attention head must be a multiple of this; 0: any width will do. */
    size_t head_width_multiple;

    /* Both or neither; NULL: attention leaves queries and keys as they are. fill_rotations writes
     * rotations[steps][head_width]; rotate turns one head's query or key, vector[head_width], by the row of
     * rotations that belongs to its step: forward in the forward pass, and backward, which undoes it, on the
     * way back from a gradient. */
    void (*fill_rotations)(float *rotations, size_t steps, size_t head_width);
    void (*rotate)(const float *rotation, float *vector, size_t head_width, bool backward);
};

#define POSITION_DECLARE(name) extern const struct position position_##name;
POSITION_TABLE(POSITION_DECLARE)
#undef POSITION_DECLARE

/* All of them, and their names for a parameter's choices; both NULL-terminated, in the same order. */
extern const struct position *const position_table[];
extern const char *const position_names[];

/* NULL if there is none of that name. */
const struct position *position_find(const char *name);

/* These take NULL as the position that does nothing. */
static inline bool position_rotates(const struct position *position) {
    return position != NULL && position->rotate != NULL;
}

static inline bool position_adds(const struct position *position) {
    return position != NULL && position->layer != NULL;
}

/* Whether attention with heads of this width can have the position. */
static inline bool position_fits(const struct position *position, size_t head_width) {
    return position == NULL || position->head_width_multiple == 0 ||
           head_width % position->head_width_multiple == 0;
}

#endif
