/* Elementary functions over sixteen floats at once, for the files named *_avx512.c: operation by operation
 * those of vector_avx2.h, so that both give the same bits, but for vector16_exp2 and sums. They need AVX-512F
 * and no more. */
#ifndef ATTNLAB_CORE_MATH_VECTOR_AVX512_H
#define ATTNLAB_CORE_MATH_VECTOR_AVX512_H

#include <immintrin.h>
#include <stddef.h>

/* The number that, added, rounds to a whole number and leaves it in the low bits. */
static inline __m512 vector16_rounder(void) {
    return _mm512_set1_ps(12582912.0f);
}

/* 2^f, by the polynomial of vector_avx2.h. */
static inline __m512 vector16_exp2_fraction(__m512 f) {
    __m512 p = _mm512_set1_ps(1.32647238206118345e-3f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.671512991189957e-3f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.550733581185341e-2f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.24022242426872253f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.6931470036506653f));
    return _mm512_fmadd_ps(p, f, _mm512_set1_ps(1));
}

/* 2^x; an instruction scales by the power of two. From -150 down it is 0; NaN stays NaN. */
static inline __m512 vector16_exp2(__m512 x) {
    __m512 bounded = _mm512_max_ps(_mm512_set1_ps(-160), x);
    __m512 n = _mm512_roundscale_ps(bounded, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_scalef_ps(vector16_exp2_fraction(_mm512_sub_ps(bounded, n)), n);
}

/* 2^f times the power of two that lies in the low bits of `shifted`. */
static inline __m512 vector16_exp2_parts(__m512 f, __m512 shifted) {
    __m512 p = vector16_exp2_fraction(f);
    __m512i power = _mm512_slli_epi32(_mm512_castps_si512(shifted), 23);
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(p), power));
}

static inline __m512 vector16_sigmoid(__m512 x) {
    const __m512 one = _mm512_set1_ps(1), rounder = vector16_rounder();
    const __m512 high = _mm512_set1_ps(-1.44269502162933349609f), low = _mm512_set1_ps(-1.925963033500e-8f);
    __m512 bounded = _mm512_max_ps(_mm512_set1_ps(-87), _mm512_min_ps(_mm512_set1_ps(87), x));
    __m512 y = _mm512_mul_ps(bounded, high);
    __m512 shifted = _mm512_add_ps(y, rounder);
    __m512 rest = _mm512_fmadd_ps(bounded, low, _mm512_fmsub_ps(bounded, high, y));
    __m512 f = _mm512_add_ps(_mm512_sub_ps(y, _mm512_sub_ps(shifted, rounder)), rest);
    return _mm512_div_ps(one, _mm512_add_ps(one, vector16_exp2_parts(f, shifted)));
}

static inline __m512 vector16_tanh(__m512 x) {
    const __m512 one = _mm512_set1_ps(1), rounder = vector16_rounder();
    __m512i sign = _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32((int)0x80000000U));
    __m512 magnitude = _mm512_abs_ps(x);
    __m512 y =
        _mm512_mul_ps(_mm512_min_ps(_mm512_set1_ps(10), magnitude), _mm512_set1_ps(2.8853900817779268f));
    __m512 shifted = _mm512_add_ps(y, rounder), f = _mm512_sub_ps(y, _mm512_sub_ps(shifted, rounder));
    __m512 rest = _mm512_div_ps(_mm512_set1_ps(2), _mm512_add_ps(vector16_exp2_parts(f, shifted), one));
    __m512i large = _mm512_or_si512(_mm512_castps_si512(_mm512_sub_ps(one, rest)), sign);
    __m512 z = _mm512_mul_ps(x, x);
    __m512 p = _mm512_set1_ps(-5.70498872745e-3f);
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(2.06390887954e-2f));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(-5.37397155531e-2f));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(1.33314422036e-1f));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(-3.33332819422e-1f));
    __m512 small = _mm512_fmadd_ps(_mm512_mul_ps(p, z), x, x);
    __mmask16 is_small = _mm512_cmp_ps_mask(magnitude, _mm512_set1_ps(0.625f), _CMP_LT_OQ);
    return _mm512_mask_blend_ps(is_small, _mm512_castsi512_ps(large), small);
}

/* The sum of each, in this order. */
static inline __m128 vector16_sums_of_four(__m512 a, __m512 b, __m512 c, __m512 d) {
    __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    /* Each quarter of ab holds two partial sums of a and b in turn. */
    __m512 all = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xEE));
    __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(all), 1));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), upper);
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* The first `count` of sixteen floats; all of them where there are as many. */
static inline __m512 vector16_load_first(const float *from, size_t count) {
    return count >= 16 ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps((__mmask16)((1U << count) - 1), from);
}

static inline void vector16_store_first(float *to, size_t count, __m512 x) {
    if (count >= 16)
        _mm512_storeu_ps(to, x);
    else
        _mm512_mask_storeu_ps(to, (__mmask16)((1U << count) - 1), x);
}

#endif
