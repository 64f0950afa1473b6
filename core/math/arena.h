/* One block of memory, handed out front to back and released as a whole.
 *
 * A run takes all its memory from one arena before its first step; the step loop allocates nothing. The same
 * layout code runs twice: first with a measuring arena (base NULL), which only adds up the sizes, so that an
 * absurd run is refused before anything is allocated; then with a real arena of exactly that size. */
#ifndef ATTNLAB_CORE_MATH_ARENA_H
#define ATTNLAB_CORE_MATH_ARENA_H

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

enum { ARENA_ALIGNMENT = 64 };

struct arena {
    unsigned char *base; /* NULL: measuring */
    size_t size;
    size_t used; /* SIZE_MAX once a size has overflowed */
    void *block; /* as allocated; the base is its first aligned byte */
};

/* Returns a measuring arena: every allocation returns NULL and only adds its size. Do not free it. */
struct arena arena_measuring(void);

/* Allocates `size` zeroed bytes. Free with arena_free. */
bool arena_init(struct arena *arena, size_t size, struct error *error);
void arena_free(struct arena *arena);

/* Takes `count` elements of `size` bytes, aligned to ARENA_ALIGNMENT. Returns NULL from a measuring arena. If
 * a real arena is too small, that is a programming error and asserts. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);
float *arena_floats(struct arena *arena, size_t count);

#endif
