/* One block of memory, handed out front to back and released as a whole.
 *
 * A run lays everything it needs into one arena before its first step; the step loop allocates nothing. The
 * same layout code runs twice: first over a measuring arena (base NULL), which only adds up the sizes and can
 * so refuse an absurd run before anything is allocated, then over a real one of exactly that size. */
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

/* An arena that only measures: every allocation returns NULL and counts. Never freed. */
struct arena arena_measuring(void);

/* Allocates `size` zeroed bytes. Free with arena_free. */
bool arena_init(struct arena *arena, size_t size, struct error *error);
void arena_free(struct arena *arena);

/* `count` elements of `size` bytes, aligned to ARENA_ALIGNMENT. NULL from a measuring arena; a real one that
 * is too small is a programming error and asserts. */
void *arena_allocate(struct arena *arena, size_t count, size_t size);
float *arena_floats(struct arena *arena, size_t count);

#endif
