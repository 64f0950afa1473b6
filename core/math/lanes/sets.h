/* The sets of lanes of core/math/lanes/lanes.h, by the suffix that they give the names of their functions and
 * tables. */
#ifndef ATTNLAB_CORE_MATH_LANES_SETS_H
#define ATTNLAB_CORE_MATH_LANES_SETS_H

#include <stdbool.h>

/* DECLARE(set) for the sets of eight lanes. AVX-512 takes AVX2's function if a sum across lanes would show in
 * its bits how many there are. */
#define FOR_SETS_OF_EIGHT(DECLARE)                                                                           \
    DECLARE(plain)                                                                                           \
    DECLARE(avx2)                                                                                            \
    DECLARE(neon)

#define FOR_EVERY_SET(DECLARE)                                                                               \
    FOR_SETS_OF_EIGHT(DECLARE)                                                                               \
    DECLARE(avx512)

/* TRY(set, whether this processor runs it) for the sets that were compiled and are faster than plain C, the
 * fastest first. */
#if defined(__x86_64__)
#define TRY_FAST_SETS(TRY)                                                                                   \
    TRY(avx512, __builtin_cpu_supports("avx512f"))                                                           \
    TRY(avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#elif defined(__aarch64__)
#define TRY_FAST_SETS(TRY) TRY(neon, true)
#else
#define TRY_FAST_SETS(TRY)
#endif

/* The same with plain C, which every processor runs. */
#define TRY_SETS(TRY)                                                                                        \
    TRY_FAST_SETS(TRY)                                                                                       \
    TRY(plain, true)

/* lane_set_plain, lane_set_avx2, ... */
#define LANE_SET_ENUMERATOR(set) lane_set_##set,
enum lane_set { FOR_EVERY_SET(LANE_SET_ENUMERATOR) LANE_SETS };

/* The set that this process runs: the fastest that was compiled and that this processor has, unless another
 * was selected. */
enum lane_set lane_set_chosen(void);

/* Selects the set of this name for the whole process, so that the bits of every product and kernel are those
 * that the set gives. Returns false, and changes nothing, if this processor does not run it. Like the number
 * of the library's threads (core/math/matrix.h) this is a setting of the process, not of a run: call it
 * before there are other threads. */
bool lane_set_select(const char *name);

/* The names of the sets that this processor runs, the fastest first, NULL-terminated: "avx512", "avx2", ...
 */
void lane_set_list(const char *names[LANE_SETS + 1]);

#endif
