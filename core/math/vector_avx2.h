/* Elementary functions over eight floats at once, for the files named *_avx2.c.
 *
 * exp: Cephes' single-precision method: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial for e^r, the power
 * of two put into the exponent. tanh: 1 - 2 / (exp(2|x|) + 1), and Cephes' polynomial below 0.625, where that
 * would cancel. */
#ifndef ATTNLAB_CORE_MATH_VECTOR_AVX2_H
#define ATTNLAB_CORE_MATH_VECTOR_AVX2_H

#include <immintrin.h>
#include <stddef.h>

/* Within 2 units in the last place. Below -87.3 it is 0, above 88.3 it stays at e^88.3; NaN stays NaN. */
static inline __m256 vector_exp(__m256 x) {
    const __m256 lowest = _mm256_set1_ps(-87.33654f), highest = _mm256_set1_ps(88.376262f);
    __m256 vanishes = _mm256_cmp_ps(x, lowest, _CMP_LT_OQ);
    /* minps and maxps give their second operand where one is NaN. */
    __m256 bounded = _mm256_max_ps(lowest, _mm256_min_ps(highest, x));
    __m256 n = _mm256_round_ps(_mm256_mul_ps(bounded, _mm256_set1_ps(1.44269504088896341f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), bounded);
    r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), r);
    __m256 p = _mm256_set1_ps(1.9875691500e-4f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.3981999507e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(8.3334519073e-3f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(4.1665795894e-2f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.6666665459e-1f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(5.0000001201e-1f));
    p = _mm256_fmadd_ps(p, _mm256_mul_ps(r, r), _mm256_add_ps(r, _mm256_set1_ps(1)));
    __m256i power = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
    __m256 result = _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), power));
    result = _mm256_andnot_ps(vanishes, result);
    return _mm256_blendv_ps(result, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/* 2^f for |f| <= 1/2: the best polynomial of its degree with value 1 at 0, by relative error (9.1e-8). */
static inline __m256 vector_exp2_fraction(__m256 f) {
    __m256 p = _mm256_set1_ps(1.32647238206118345e-3f);
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(9.671512991189957e-3f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(5.550733581185341e-2f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0.24022242426872253f));
    p = _mm256_fmadd_ps(p, f, _mm256_set1_ps(0.6931470036506653f));
    return _mm256_fmadd_ps(p, f, _mm256_set1_ps(1));
}

/* 2^x for x below 127, within 2 units in the last place, in two thirds of the instructions of exp: nothing is
 * lost in reducing x to n + f. Below -127 it is 0 (there f is 0 and the polynomial exactly 1); NaN stays NaN.
 */
static inline __m256 vector_exp2(__m256 x) {
    /* Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits. */
    const __m256 rounder = _mm256_set1_ps(12582912.0f);
    __m256 bounded = _mm256_max_ps(_mm256_set1_ps(-127), x);
    __m256 shifted = _mm256_add_ps(bounded, rounder);
    __m256 f = _mm256_sub_ps(bounded, _mm256_sub_ps(shifted, rounder));
    __m256i power = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(vector_exp2_fraction(f)), power));
}

/* 1 / (1 + 2^(-x log2 e)), with log2 e in two parts so that the product loses nothing; NaN stays NaN. */
static inline __m256 vector_sigmoid(__m256 x) {
    const __m256 rounder = _mm256_set1_ps(12582912.0f), one = _mm256_set1_ps(1);
    const __m256 high = _mm256_set1_ps(-1.44269502162933349609f), low = _mm256_set1_ps(-1.925963033500e-8f);
    __m256 bounded = _mm256_max_ps(_mm256_set1_ps(-87), _mm256_min_ps(_mm256_set1_ps(87), x));
    __m256 y = _mm256_mul_ps(bounded, high);
    __m256 shifted = _mm256_add_ps(y, rounder);
    __m256 rest = _mm256_fmadd_ps(bounded, low, _mm256_fmsub_ps(bounded, high, y));
    __m256 f = _mm256_add_ps(_mm256_sub_ps(y, _mm256_sub_ps(shifted, rounder)), rest);
    __m256i power = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    __m256i e = _mm256_add_epi32(_mm256_castps_si256(vector_exp2_fraction(f)), power);
    return _mm256_div_ps(one, _mm256_add_ps(one, _mm256_castsi256_ps(e)));
}

static inline __m256 vector_tanh(__m256 x) {
    const __m256 sign_bit = _mm256_set1_ps(-0.0f), one = _mm256_set1_ps(1);
    const __m256 rounder = _mm256_set1_ps(12582912.0f);
    __m256 sign = _mm256_and_ps(x, sign_bit), magnitude = _mm256_andnot_ps(sign_bit, x);
    /* e^(2|x|) = 2^y; from |x| = 9.01 on the result is 1. */
    __m256 y =
        _mm256_mul_ps(_mm256_min_ps(_mm256_set1_ps(10), magnitude), _mm256_set1_ps(2.8853900817779268f));
    __m256 shifted = _mm256_add_ps(y, rounder), f = _mm256_sub_ps(y, _mm256_sub_ps(shifted, rounder));
    __m256i power = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
    __m256i e = _mm256_add_epi32(_mm256_castps_si256(vector_exp2_fraction(f)), power);
    __m256 rest = _mm256_div_ps(_mm256_set1_ps(2), _mm256_add_ps(_mm256_castsi256_ps(e), one));
    __m256 large = _mm256_sub_ps(one, rest);
    __m256 z = _mm256_mul_ps(x, x);
    __m256 p = _mm256_set1_ps(-5.70498872745e-3f);
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(2.06390887954e-2f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(-5.37397155531e-2f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(1.33314422036e-1f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(-3.33332819422e-1f));
    __m256 small = _mm256_fmadd_ps(_mm256_mul_ps(p, z), x, x);
    __m256 is_small = _mm256_cmp_ps(magnitude, _mm256_set1_ps(0.625f), _CMP_LT_OQ);
    return _mm256_blendv_ps(_mm256_or_ps(large, sign), small, is_small);
}

static inline float vector_sum(__m256 x) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

static inline float vector_largest(__m256 x) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

/* All ones in the first `count` lanes, count <= 8: for the last, partial vector of a row. */
static inline __m256i vector_first_lanes(int count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first `count` of eight floats; all of them where there are as many. Masks only where they are needed:
 * on some processors a masked store takes ten times as long. */
static inline __m256 vector_load_first(const float *from, size_t count) {
    return count >= 8 ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, vector_first_lanes((int)count));
}

static inline void vector_store_first(float *to, size_t count, __m256 x) {
    if (count >= 8)
        _mm256_storeu_ps(to, x);
    else
        _mm256_maskstore_ps(to, vector_first_lanes((int)count), x);
}

/* Eight rows of eight, by three rounds of interleaving. */
static inline void vector_transpose(__m256 r[8]) {
    __m256 s[8];
#pragma GCC unroll 4
    for (size_t i = 0; i < 8; i += 2) {
        s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
#pragma GCC unroll 2
    for (size_t i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xEE);
        r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xEE);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        s[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        s[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        r[i] = s[i];
}

#endif
