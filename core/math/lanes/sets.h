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

#endif
