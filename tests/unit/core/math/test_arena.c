/* The arena: its memory is aligned, zeroed and within the block, and sizes never wrap around. */
#include "core/math/arena.h"
#include "tests/unit/main.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const size_t sizes[] = {1, 63, 64, 65, 100, 1000, 4096};
enum { SIZES = sizeof sizes / sizeof *sizes };

START_TEST(allocations_are_aligned_zeroed_and_disjoint) {
    struct arena measure = arena_measuring(), arena;
    for (size_t i = 0; i < SIZES; i++)
        ck_assert_ptr_null(arena_allocate(&measure, sizes[i], 1));
    /* The system may align blocks of different sizes differently. */
    for (size_t more = 0; more < 20; more++) {
        unsigned char *end = NULL;
        ck_assert(arena_init(&arena, measure.used + 100 * more, NULL));
        for (size_t i = 0; i < SIZES; i++) {
            unsigned char *bytes = arena_allocate(&arena, sizes[i], 1);
            ck_assert_ptr_nonnull(bytes);
            ck_assert_uint_eq((uintptr_t)bytes % ARENA_ALIGNMENT, 0);
            ck_assert(end == NULL || bytes >= end);
            end = bytes + sizes[i];
            for (size_t j = 0; j < sizes[i]; j++)
                ck_assert_uint_eq(bytes[j], 0);
            memset(bytes, 0xff, sizes[i]);
        }
        ck_assert_uint_eq(arena.used, measure.used);
        arena_free(&arena);
    }
}
END_TEST

START_TEST(an_arena_of_any_size_has_room_for_that_size) {
    for (size_t size = 1; size <= 200; size++) {
        struct arena arena;
        ck_assert(arena_init(&arena, size, NULL));
        ck_assert_ptr_nonnull(arena_allocate(&arena, size, 1));
        arena_free(&arena);
    }
}
END_TEST

START_TEST(sizes_beyond_memory_are_refused) {
    struct arena arena;
    struct error error = {0};
    ck_assert(!arena_init(&arena, SIZE_MAX, &error));
    ck_assert_int_eq(error.code, ERROR_MEMORY);
    static const size_t counts[][2] = {{SIZE_MAX, 2}, {SIZE_MAX, 1}, {SIZE_MAX / 2, 2}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        arena = arena_measuring();
        arena_allocate(&arena, 100, 1);
        arena_allocate(&arena, counts[i][0], counts[i][1]);
        ck_assert_uint_eq(arena.used, SIZE_MAX);
        arena_allocate(&arena, 100, 1); /* once too large, always too large */
        ck_assert_uint_eq(arena.used, SIZE_MAX);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, allocations_are_aligned_zeroed_and_disjoint);
    tcase_add_test(tests, an_arena_of_any_size_has_room_for_that_size);
    tcase_add_test(tests, sizes_beyond_memory_are_refused);
}
