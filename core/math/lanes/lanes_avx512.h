/* Sixteen lanes by AVX-512F and no more of AVX-512: see lanes.h. What works on every lane by itself gives the
 * bits of AVX2, except 2^x, which an instruction scales here. */
#ifndef ATTNLAB_CORE_MATH_LANES_LANES_AVX512_H
#define ATTNLAB_CORE_MATH_LANES_LANES_AVX512_H

#include <immintrin.h>
#include <stddef.h>

#define LANES           16
#define LANES_SET       avx512
#define LANES_EIGHT_SET avx2
/* Results that a product keeps in registers: sixteen of thirty-two. */
#define LANES_BLOCK_ROWS 8
/* 2^x is 0 below -150. */
#define LANES_LEAST_POWER (-160)

typedef __m512 lanes;
typedef __mmask16 lanes_mask;
typedef __mmask16 lanes_part;

static inline lanes lanes_load(const float *from) {
    return _mm512_loadu_ps(from);
}

static inline void lanes_store(float *to, lanes x) {
    _mm512_storeu_ps(to, x);
}

static inline lanes_part lanes_first(size_t count) {
    return (__mmask16)((1U << count) - 1);
}

static inline lanes lanes_load_part(const float *from, lanes_part part) {
    return _mm512_maskz_loadu_ps(part, from);
}

static inline void lanes_store_part(float *to, lanes_part part, lanes x) {
    _mm512_mask_storeu_ps(to, part, x);
}

static inline lanes lanes_broadcast(float x) {
    return _mm512_set1_ps(x);
}

static inline lanes lanes_zero(void) {
    return _mm512_setzero_ps();
}

static inline lanes lanes_add(lanes a, lanes b) {
    return _mm512_add_ps(a, b);
}

static inline lanes lanes_subtract(lanes a, lanes b) {
    return _mm512_sub_ps(a, b);
}

static inline lanes lanes_multiply(lanes a, lanes b) {
    return _mm512_mul_ps(a, b);
}

static inline lanes lanes_divide(lanes a, lanes b) {
    return _mm512_div_ps(a, b);
}

static inline lanes lanes_multiply_add(lanes a, lanes b, lanes c) {
    return _mm512_fmadd_ps(a, b, c);
}

static inline lanes lanes_multiply_subtract(lanes a, lanes b, lanes c) {
    return _mm512_fmsub_ps(a, b, c);
}

static inline lanes lanes_subtract_product(lanes a, lanes b, lanes c) {
    return _mm512_fnmadd_ps(a, b, c);
}

static inline lanes lanes_minimum(lanes a, lanes b) {
    return _mm512_min_ps(a, b);
}

static inline lanes lanes_maximum(lanes a, lanes b) {
    return _mm512_max_ps(a, b);
}

static inline lanes lanes_magnitude(lanes x) {
    return _mm512_abs_ps(x);
}

/* Of an x that has no sign yet. */
static inline lanes lanes_with_sign_of(lanes x, lanes of) {
    __m512i sign = _mm512_and_si512(_mm512_castps_si512(of), _mm512_set1_epi32((int)0x80000000U));
    return _mm512_castsi512_ps(_mm512_or_si512(_mm512_castps_si512(x), sign));
}

static inline lanes_mask lanes_is_less(lanes a, lanes b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline lanes_mask lanes_is_greater(lanes a, lanes b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}

static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    return _mm512_mask_blend_ps(mask, no, yes);
}

static inline float lanes_sum(lanes x) {
    return _mm512_reduce_add_ps(x);
}

static inline float lanes_largest(lanes x) {
    return _mm512_reduce_max_ps(x);
}

static inline float lanes_least(lanes x) {
    return _mm512_reduce_min_ps(x);
}

struct lanes_split {
    lanes whole, fraction;
};

/* Without optimization gcc's _mm512_roundscale_ps is a macro, whose conversions are reported as ours. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
static inline struct lanes_split lanes_split(lanes x) {
    lanes whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return (struct lanes_split){whole, _mm512_sub_ps(x, whole)};
}
#pragma GCC diagnostic pop

static inline lanes lanes_scale(lanes p, struct lanes_split x) {
    return _mm512_scalef_ps(p, x.whole);
}

/* sums[4]: of each of four, finished together. */
static inline void lanes_sums_of_four(const lanes x[4], float *sums) {
    lanes ab = _mm512_add_ps(_mm512_unpacklo_ps(x[0], x[1]), _mm512_unpackhi_ps(x[0], x[1]));
    lanes cd = _mm512_add_ps(_mm512_unpacklo_ps(x[2], x[3]), _mm512_unpackhi_ps(x[2], x[3]));
    /* Each quarter of ab holds two partial sums of the first and the second in turn. */
    lanes all = _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xEE));
    __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(all), 1));
    __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), upper);
    _mm_storeu_ps(sums, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

#endif
