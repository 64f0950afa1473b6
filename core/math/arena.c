/* One block of memory, handed out front to back: see arena.h. */
#include "core/math/arena.h"

#include <assert.h>
#include <stdlib.h>

struct arena arena_measuring(void) {
    return (struct arena){0};
}

bool arena_init(struct arena *arena, size_t size, struct error *error) {
    size_t rounded = (size + ARENA_ALIGNMENT) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    *arena = (struct arena){0};
    if (rounded < size || rounded > SIZE_MAX - ARENA_ALIGNMENT)
        return error_set_memory(error, size);
    /* Not aligned_alloc and memset: new pages from the system are already zero, so a large block costs time
     * page by page as it is used, and not all at once before the first step. */
    arena->block = calloc(1, rounded + ARENA_ALIGNMENT);
    if (arena->block == NULL)
        return error_set_memory(error, rounded);
    size_t past = (uintptr_t)arena->block % ARENA_ALIGNMENT;
    arena->base = (unsigned char *)arena->block + (past > 0 ? ARENA_ALIGNMENT - past : 0);
    arena->size = rounded;
    return true;
}

void arena_free(struct arena *arena) {
    free(arena->block);
    *arena = (struct arena){0};
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
