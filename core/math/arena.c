/* One block of memory, handed out front to back: see arena.h. */
#include "core/math/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct arena arena_measuring(void) {
    return (struct arena){NULL, 0, 0};
}

bool arena_init(struct arena *arena, size_t size, struct error *error) {
    size_t rounded = (size + ARENA_ALIGNMENT) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    *arena = (struct arena){NULL, 0, 0};
    if (rounded < size)
        return error_set_memory(error, size);
    arena->base = aligned_alloc(ARENA_ALIGNMENT, rounded);
    if (arena->base == NULL)
        return error_set_memory(error, rounded);
    memset(arena->base, 0, rounded);
    arena->size = rounded;
    return true;
}

void arena_free(struct arena *arena) {
    free(arena->base);
    *arena = (struct arena){NULL, 0, 0};
}

void *arena_allocate(struct arena *arena, size_t count, size_t size) {
    size_t bytes, padded, end;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)ARENA_ALIGNMENT - 1, &padded) ||
        __builtin_add_overflow(arena->used, padded / ARENA_ALIGNMENT * ARENA_ALIGNMENT, &end)) {
        assert(arena->base == NULL);
        arena->used = SIZE_MAX;
        return NULL;
    }
    size_t start = arena->used;
    arena->used = end;
    if (arena->base == NULL)
        return NULL;
    assert(end <= arena->size);
    return arena->base + start;
}

float *arena_floats(struct arena *arena, size_t count) {
    return arena_allocate(arena, count, sizeof(float));
}
