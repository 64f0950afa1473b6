/* A vector of several floats, the unit of all kernels. A kernel is written once with these names and compiled
 * for every instruction set; -DLANES_AVX2 and the like choose the set, and the default is plain C, which
 * every processor runs. All sets give the same bits for comparisons, maxima and rounding. multiply_add rounds
 * once, except in plain C, where that would cost a call of the C library. */
#ifndef ATTNLAB_CORE_MATH_LANES_LANES_H
#define ATTNLAB_CORE_MATH_LANES_LANES_H

/* A set defines LANES, how many floats there are; LANES_SET, its name and the suffix of its functions;
 * LANES_EIGHT_SET, the set of eight lanes that takes over where the order of a sum must not change; the types
 *
 *   lanes         the floats
 *   lanes_mask    the outcome of a comparison in every lane
 *   lanes_part    the first few lanes, for the end of a row; does not access memory after it
 *   lanes_power   powers of two
 *
 * and the functions, all by value:
 *
 *   load, store, load_part, store_part, lanes_first(count <= LANES), broadcast, zero
 *   add, subtract, multiply, divide, square_root
 *   multiply_add(a, b, c): a b + c; multiply_subtract: a b - c; subtract_product: c - a b
 *   fused_multiply_add: a b + c, rounded once in plain C too
 *   minimum, maximum: the second where one is NaN, or both are zero
 *   magnitude, with_sign_of(x, signed), negate
 *   is_less, is_greater, is_at_least, is_nan: masks; no comparison with NaN holds
 *   select(mask, yes, no), keep(mask, x): else 0, and the same of a part: select_part, keep_part
 *   sum, largest, least: across the lanes, of a sum in the order of AVX2's
 *   split(x): x = whole + fraction, |fraction| <= 1/2; scale(p, split): p 2^whole */
#if defined(LANES_AVX512)
#include "core/math/lanes/lanes_avx512.h"
#elif defined(LANES_AVX2)
#include "core/math/lanes/lanes_avx2.h"
#elif defined(LANES_NEON)
#include "core/math/lanes/lanes_neon.h"
#else
#include "core/math/lanes/lanes_plain.h"
#endif

/* In this set the function `name` is name_avx2, name_neon, ... */
#define LANES_JOIN_TOKENS(name, set) name##_##set
#define LANES_JOIN(name, set)        LANES_JOIN_TOKENS(name, set)
#define IN_SET(name)                 LANES_JOIN(name, LANES_SET)
#define LANES_STRING_TOKEN(set)      #set
#define LANES_STRING(set)            LANES_STRING_TOKEN(set)
#define IN_EIGHT_LANES(name)         LANES_JOIN(name, LANES_EIGHT_SET)

#define LANES_INLINE static inline __attribute__((always_inline))

/* The first `count` floats; all of them where there are as many. Parts only where they are needed: on some
 * processors a masked store takes ten times as long. */
LANES_INLINE lanes lanes_load_first(const float *from, size_t count) {
    return count >= LANES ? lanes_load(from) : lanes_load_part(from, lanes_first(count));
}

LANES_INLINE void lanes_store_first(float *to, size_t count, lanes x) {
    if (count >= LANES)
        lanes_store(to, x);
    else
        lanes_store_part(to, lanes_first(count), x);
}

/* Those lanes from j on that a row of `count` has. */
LANES_INLINE lanes_part lanes_part_at(size_t j, size_t count) {
    return lanes_first(count - j < LANES ? count - j : LANES);
}

/* function(first, LANES, ...) for all lanes of a row of `count`, then (first, rest, ...): inlined twice, so
 * that whole lanes see a constant. */
#define FOR_LANES(count, function, ...)                                                                      \
    do {                                                                                                     \
        size_t first = 0;                                                                                    \
        for (; first + LANES <= (count); first += LANES)                                                     \
            function(first, LANES, __VA_ARGS__);                                                             \
        if (first < (count))                                                                                 \
            function(first, (count)-first, __VA_ARGS__);                                                     \
    } while (0)

#endif
