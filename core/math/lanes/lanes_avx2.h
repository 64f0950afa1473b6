/* Eight lanes by AVX2 and FMA: see lanes.h. */
#ifndef ATTNLAB_CORE_MATH_LANES_LANES_AVX2_H
#define ATTNLAB_CORE_MATH_LANES_LANES_AVX2_H

#include <immintrin.h>
#include <stddef.h>

#define LANES           8
#define LANES_SET       avx2
#define LANES_EIGHT_SET avx2
/* Results that a product keeps in registers: twelve of sixteen. */
#define LANES_BLOCK_ROWS 6
/* 2^x is exact down to here; below it is 0. */
#define LANES_LEAST_POWER (-127)

typedef __m256 lanes;
typedef __m256 lanes_mask;
typedef __m256i lanes_part;

static inline lanes lanes_load(const float *from) {
    return _mm256_loadu_ps(from);
}

static inline void lanes_store(float *to, lanes x) {
    _mm256_storeu_ps(to, x);
}

static inline lanes_part lanes_first(size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline lanes lanes_load_part(const float *from, lanes_part part) {
    return _mm256_maskload_ps(from, part);
}

static inline void lanes_store_part(float *to, lanes_part part, lanes x) {
    _mm256_maskstore_ps(to, part, x);
}

static inline lanes lanes_broadcast(float x) {
    return _mm256_set1_ps(x);
}

static inline lanes lanes_zero(void) {
    return _mm256_setzero_ps();
}

static inline lanes lanes_add(lanes a, lanes b) {
    return _mm256_add_ps(a, b);
}

static inline lanes lanes_subtract(lanes a, lanes b) {
    return _mm256_sub_ps(a, b);
}

static inline lanes lanes_multiply(lanes a, lanes b) {
    return _mm256_mul_ps(a, b);
}

static inline lanes lanes_divide(lanes a, lanes b) {
    return _mm256_div_ps(a, b);
}

static inline lanes lanes_square_root(lanes x) {
    return _mm256_sqrt_ps(x);
}

static inline lanes lanes_multiply_add(lanes a, lanes b, lanes c) {
    return _mm256_fmadd_ps(a, b, c);
}

static inline lanes lanes_fused_multiply_add(lanes a, lanes b, lanes c) {
    return _mm256_fmadd_ps(a, b, c);
}

static inline lanes lanes_multiply_subtract(lanes a, lanes b, lanes c) {
    return _mm256_fmsub_ps(a, b, c);
}

static inline lanes lanes_subtract_product(lanes a, lanes b, lanes c) {
    return _mm256_fnmadd_ps(a, b, c);
}

static inline lanes lanes_minimum(lanes a, lanes b) {
    return _mm256_min_ps(a, b);
}

static inline lanes lanes_maximum(lanes a, lanes b) {
    return _mm256_max_ps(a, b);
}

static inline lanes lanes_magnitude(lanes x) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
}

/* Of an x that has no sign yet. */
static inline lanes lanes_with_sign_of(lanes x, lanes of) {
    return _mm256_or_ps(x, _mm256_and_ps(of, _mm256_set1_ps(-0.0F)));
}

static inline lanes_mask lanes_is_less(lanes a, lanes b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline lanes_mask lanes_is_greater(lanes a, lanes b) {
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

static inline lanes_mask lanes_is_at_least(lanes a, lanes b) {
    return _mm256_cmp_ps(a, b, _CMP_GE_OQ);
}

static inline lanes_mask lanes_is_nan(lanes x) {
    return _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
}

static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    return _mm256_blendv_ps(no, yes, mask);
}

static inline lanes lanes_keep(lanes_mask mask, lanes x) {
    return _mm256_and_ps(mask, x);
}

static inline lanes lanes_select_part(lanes_part part, lanes yes, lanes no) {
    return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(part));
}

static inline lanes lanes_keep_part(lanes_part part, lanes x) {
    return _mm256_and_ps(x, _mm256_castsi256_ps(part));
}

static inline float lanes_sum(lanes x) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)));
}

static inline float lanes_largest(lanes x) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_movehdup_ps(half)));
}

static inline float lanes_least(lanes x) {
    return -lanes_largest(_mm256_xor_ps(x, _mm256_set1_ps(-0.0F)));
}

struct lanes_split {
    lanes whole, fraction;
    __m256i power;
};

/* Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits. */
static inline struct lanes_split lanes_split(lanes x) {
    const lanes rounder = _mm256_set1_ps(12582912.0F);
    lanes shifted = _mm256_add_ps(x, rounder), whole = _mm256_sub_ps(shifted, rounder);
    return (struct lanes_split){whole, _mm256_sub_ps(x, whole),
                                _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)};
}

static inline lanes lanes_scale(lanes p, struct lanes_split x) {
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), x.power));
}

/* Sums in double, half of the lanes added to the other. */
typedef __m256d lanes_double;

static inline lanes_double lanes_double_zero(void) {
    return _mm256_setzero_pd();
}

static inline lanes_double lanes_double_add(lanes_double sum, lanes x) {
    sum = _mm256_add_pd(sum, _mm256_cvtps_pd(_mm256_castps256_ps128(x)));
    return _mm256_add_pd(sum, _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
}

static inline double lanes_double_sum(lanes_double x) {
    __m128d half = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

/* Eight rows of eight, by three rounds of interleaving. */
static inline void lanes_transpose(lanes r[LANES]) {
    lanes s[LANES];
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
