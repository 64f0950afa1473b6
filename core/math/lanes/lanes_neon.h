/* Eight lanes by NEON on aarch64, four and four, so that sums have the order of AVX2's: see lanes.h. */
#ifndef ATTNLAB_CORE_MATH_LANES_LANES_NEON_H
#define ATTNLAB_CORE_MATH_LANES_LANES_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <string.h>

#define LANES           8
#define LANES_SET       neon
#define LANES_EIGHT_SET neon
/* Results that a product keeps in registers: twenty-four of thirty-two. */
#define LANES_BLOCK_ROWS  6
#define LANES_LEAST_POWER (-127)

typedef struct {
    float32x4_t low, high;
} lanes;

typedef struct {
    uint32x4_t low, high;
} lanes_mask;

/* There are no masked loads and stores: these go through an array. */
typedef struct {
    size_t count;
} lanes_part;

static inline lanes lanes_load(const float *from) {
    return (lanes){vld1q_f32(from), vld1q_f32(from + 4)};
}

static inline void lanes_store(float *to, lanes x) {
    vst1q_f32(to, x.low);
    vst1q_f32(to + 4, x.high);
}

static inline lanes_part lanes_first(size_t count) {
    return (lanes_part){count};
}

static inline lanes lanes_load_part(const float *from, lanes_part part) {
    float all[LANES] = {0};
    memcpy(all, from, part.count * sizeof *from);
    return lanes_load(all);
}

static inline void lanes_store_part(float *to, lanes_part part, lanes x) {
    float all[LANES];
    lanes_store(all, x);
    memcpy(to, all, part.count * sizeof *to);
}

static inline lanes lanes_broadcast(float x) {
    return (lanes){vdupq_n_f32(x), vdupq_n_f32(x)};
}

static inline lanes lanes_zero(void) {
    return lanes_broadcast(0);
}

static inline lanes lanes_add(lanes a, lanes b) {
    return (lanes){vaddq_f32(a.low, b.low), vaddq_f32(a.high, b.high)};
}

static inline lanes lanes_subtract(lanes a, lanes b) {
    return (lanes){vsubq_f32(a.low, b.low), vsubq_f32(a.high, b.high)};
}

static inline lanes lanes_multiply(lanes a, lanes b) {
    return (lanes){vmulq_f32(a.low, b.low), vmulq_f32(a.high, b.high)};
}

static inline lanes lanes_divide(lanes a, lanes b) {
    return (lanes){vdivq_f32(a.low, b.low), vdivq_f32(a.high, b.high)};
}

static inline lanes lanes_square_root(lanes x) {
    return (lanes){vsqrtq_f32(x.low), vsqrtq_f32(x.high)};
}

static inline lanes lanes_multiply_add(lanes a, lanes b, lanes c) {
    return (lanes){vfmaq_f32(c.low, a.low, b.low), vfmaq_f32(c.high, a.high, b.high)};
}

static inline lanes lanes_fused_multiply_add(lanes a, lanes b, lanes c) {
    return lanes_multiply_add(a, b, c);
}

static inline lanes lanes_subtract_product(lanes a, lanes b, lanes c) {
    return (lanes){vfmsq_f32(c.low, a.low, b.low), vfmsq_f32(c.high, a.high, b.high)};
}

static inline lanes lanes_multiply_subtract(lanes a, lanes b, lanes c) {
    return lanes_multiply_add(a, b, (lanes){vnegq_f32(c.low), vnegq_f32(c.high)});
}

static inline lanes_mask lanes_is_less(lanes a, lanes b) {
    return (lanes_mask){vcltq_f32(a.low, b.low), vcltq_f32(a.high, b.high)};
}

static inline lanes_mask lanes_is_greater(lanes a, lanes b) {
    return (lanes_mask){vcgtq_f32(a.low, b.low), vcgtq_f32(a.high, b.high)};
}

static inline lanes_mask lanes_is_at_least(lanes a, lanes b) {
    return (lanes_mask){vcgeq_f32(a.low, b.low), vcgeq_f32(a.high, b.high)};
}

static inline lanes_mask lanes_is_nan(lanes x) {
    return (lanes_mask){vmvnq_u32(vceqq_f32(x.low, x.low)), vmvnq_u32(vceqq_f32(x.high, x.high))};
}

static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    return (lanes){vbslq_f32(mask.low, yes.low, no.low), vbslq_f32(mask.high, yes.high, no.high)};
}

static inline lanes lanes_keep(lanes_mask mask, lanes x) {
    return lanes_select(mask, x, lanes_zero());
}

/* By comparison: the instructions for it give NaN where either is NaN. */
static inline lanes lanes_minimum(lanes a, lanes b) {
    return lanes_select(lanes_is_less(a, b), a, b);
}

static inline lanes lanes_maximum(lanes a, lanes b) {
    return lanes_select(lanes_is_greater(a, b), a, b);
}

static inline lanes lanes_magnitude(lanes x) {
    return (lanes){vabsq_f32(x.low), vabsq_f32(x.high)};
}

/* Of an x that has no sign yet. */
static inline lanes lanes_with_sign_of(lanes x, lanes of) {
    const uint32x4_t sign = vdupq_n_u32(0x80000000U);
    return (lanes){vbslq_f32(sign, of.low, x.low), vbslq_f32(sign, of.high, x.high)};
}

static inline lanes_mask lanes_mask_of_part(lanes_part part) {
    static const uint32_t places[LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint32x4_t count = vdupq_n_u32((uint32_t)part.count);
    return (lanes_mask){vcltq_u32(vld1q_u32(places), count), vcltq_u32(vld1q_u32(places + 4), count)};
}

static inline lanes lanes_select_part(lanes_part part, lanes yes, lanes no) {
    return lanes_select(lanes_mask_of_part(part), yes, no);
}

static inline lanes lanes_keep_part(lanes_part part, lanes x) {
    return lanes_keep(lanes_mask_of_part(part), x);
}

static inline float lanes_sum(lanes x) {
    float32x4_t half = vaddq_f32(x.low, x.high);
    float32x2_t quarter = vadd_f32(vget_low_f32(half), vget_high_f32(half));
    return vget_lane_f32(quarter, 0) + vget_lane_f32(quarter, 1);
}

static inline float lanes_largest(lanes x) {
    return vmaxvq_f32(vmaxq_f32(x.low, x.high));
}

static inline float lanes_least(lanes x) {
    return vminvq_f32(vminq_f32(x.low, x.high));
}

struct lanes_split {
    lanes whole, fraction;
    int32x4_t low_power, high_power;
};

static inline struct lanes_split lanes_split(lanes x) {
    lanes whole = {vrndnq_f32(x.low), vrndnq_f32(x.high)};
    return (struct lanes_split){whole, lanes_subtract(x, whole), vshlq_n_s32(vcvtq_s32_f32(whole.low), 23),
                                vshlq_n_s32(vcvtq_s32_f32(whole.high), 23)};
}

static inline float32x4_t lanes_scale_half(float32x4_t p, int32x4_t power) {
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(p), power));
}

static inline lanes lanes_scale(lanes p, struct lanes_split x) {
    return (lanes){lanes_scale_half(p.low, x.low_power), lanes_scale_half(p.high, x.high_power)};
}

/* Sums in double, half of the lanes added to the other. */
typedef struct {
    float64x2_t low, high;
} lanes_double;

static inline lanes_double lanes_double_zero(void) {
    return (lanes_double){vdupq_n_f64(0), vdupq_n_f64(0)};
}

static inline lanes_double lanes_double_add_half(lanes_double sum, float32x4_t x) {
    return (lanes_double){vaddq_f64(sum.low, vcvt_f64_f32(vget_low_f32(x))),
                          vaddq_f64(sum.high, vcvt_high_f64_f32(x))};
}

static inline lanes_double lanes_double_add(lanes_double sum, lanes x) {
    return lanes_double_add_half(lanes_double_add_half(sum, x.low), x.high);
}

static inline double lanes_double_sum(lanes_double x) {
    float64x2_t half = vaddq_f64(x.low, x.high);
    return vgetq_lane_f64(half, 0) + vgetq_lane_f64(half, 1);
}

/* Four rows of four. */
static inline void lanes_transpose_quarter(float32x4_t r[4]) {
    float32x4x2_t even = vtrnq_f32(r[0], r[1]), odd = vtrnq_f32(r[2], r[3]);
    r[0] = vcombine_f32(vget_low_f32(even.val[0]), vget_low_f32(odd.val[0]));
    r[1] = vcombine_f32(vget_low_f32(even.val[1]), vget_low_f32(odd.val[1]));
    r[2] = vcombine_f32(vget_high_f32(even.val[0]), vget_high_f32(odd.val[0]));
    r[3] = vcombine_f32(vget_high_f32(even.val[1]), vget_high_f32(odd.val[1]));
}

/* Eight rows of eight, by quarters. */
static inline void lanes_transpose(lanes r[LANES]) {
    float32x4_t quarters[4][4];
    for (size_t i = 0; i < 4; i++) {
        quarters[0][i] = r[i].low;
        quarters[1][i] = r[i].high;
        quarters[2][i] = r[i + 4].low;
        quarters[3][i] = r[i + 4].high;
    }
    for (size_t i = 0; i < 4; i++)
        lanes_transpose_quarter(quarters[i]);
    for (size_t i = 0; i < 4; i++) {
        r[i] = (lanes){quarters[0][i], quarters[2][i]};
        r[i + 4] = (lanes){quarters[1][i], quarters[3][i]};
    }
}

#endif
