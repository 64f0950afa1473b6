/* Eight lanes in plain C, for processors that have no set of their own: see lanes.h. */
#ifndef ATTNLAB_CORE_MATH_LANES_LANES_PLAIN_H
#define ATTNLAB_CORE_MATH_LANES_LANES_PLAIN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LANES             8
#define LANES_SET         plain
#define LANES_EIGHT_SET   plain
#define LANES_LEAST_POWER (-127)

typedef struct {
    float at[LANES];
} lanes;

typedef struct {
    bool at[LANES];
} lanes_mask;

typedef struct {
    size_t count;
} lanes_part;

/* result.at[i] = `value` in every lane; `type` is that of the result. */
#define LANES_EACH(type, value)                                                                              \
    type result;                                                                                             \
    for (size_t i = 0; i < LANES; i++)                                                                       \
        result.at[i] = (value);                                                                              \
    return result

static inline lanes lanes_load(const float *from) {
    lanes x;
    memcpy(x.at, from, sizeof x.at);
    return x;
}

static inline void lanes_store(float *to, lanes x) {
    memcpy(to, x.at, sizeof x.at);
}

static inline lanes_part lanes_first(size_t count) {
    return (lanes_part){count};
}

static inline lanes lanes_load_part(const float *from, lanes_part part) {
    lanes x = {{0}};
    memcpy(x.at, from, part.count * sizeof *from);
    return x;
}

static inline void lanes_store_part(float *to, lanes_part part, lanes x) {
    memcpy(to, x.at, part.count * sizeof *to);
}

static inline lanes lanes_broadcast(float x) {
    LANES_EACH(lanes, x);
}

static inline lanes lanes_zero(void) {
    return lanes_broadcast(0);
}

static inline lanes lanes_add(lanes a, lanes b) {
    LANES_EACH(lanes, a.at[i] + b.at[i]);
}

static inline lanes lanes_subtract(lanes a, lanes b) {
    LANES_EACH(lanes, a.at[i] - b.at[i]);
}

static inline lanes lanes_multiply(lanes a, lanes b) {
    LANES_EACH(lanes, a.at[i] * b.at[i]);
}

static inline lanes lanes_divide(lanes a, lanes b) {
    LANES_EACH(lanes, a.at[i] / b.at[i]);
}

static inline lanes lanes_square_root(lanes x) {
    LANES_EACH(lanes, sqrtf(x.at[i]));
}

static inline lanes lanes_multiply_add(lanes a, lanes b, lanes c) {
    LANES_EACH(lanes, a.at[i] * b.at[i] + c.at[i]);
}

static inline lanes lanes_fused_multiply_add(lanes a, lanes b, lanes c) {
    LANES_EACH(lanes, fmaf(a.at[i], b.at[i], c.at[i]));
}

/* In double, where the product is exact: what is left of a difference is often no more than its rounding. */
static inline lanes lanes_multiply_subtract(lanes a, lanes b, lanes c) {
    LANES_EACH(lanes, (float)((double)a.at[i] * (double)b.at[i] - (double)c.at[i]));
}

static inline lanes lanes_subtract_product(lanes a, lanes b, lanes c) {
    LANES_EACH(lanes, c.at[i] - a.at[i] * b.at[i]);
}

static inline lanes lanes_minimum(lanes a, lanes b) {
    LANES_EACH(lanes, a.at[i] < b.at[i] ? a.at[i] : b.at[i]);
}

static inline lanes lanes_maximum(lanes a, lanes b) {
    LANES_EACH(lanes, a.at[i] > b.at[i] ? a.at[i] : b.at[i]);
}

static inline lanes lanes_magnitude(lanes x) {
    LANES_EACH(lanes, fabsf(x.at[i]));
}

static inline lanes lanes_with_sign_of(lanes x, lanes of) {
    LANES_EACH(lanes, copysignf(x.at[i], of.at[i]));
}

static inline lanes_mask lanes_is_less(lanes a, lanes b) {
    LANES_EACH(lanes_mask, a.at[i] < b.at[i]);
}

static inline lanes_mask lanes_is_greater(lanes a, lanes b) {
    LANES_EACH(lanes_mask, a.at[i] > b.at[i]);
}

static inline lanes_mask lanes_is_at_least(lanes a, lanes b) {
    LANES_EACH(lanes_mask, a.at[i] >= b.at[i]);
}

static inline lanes_mask lanes_is_nan(lanes x) {
    LANES_EACH(lanes_mask, isnan(x.at[i]));
}

static inline lanes lanes_select(lanes_mask mask, lanes yes, lanes no) {
    LANES_EACH(lanes, mask.at[i] ? yes.at[i] : no.at[i]);
}

static inline lanes lanes_keep(lanes_mask mask, lanes x) {
    LANES_EACH(lanes, mask.at[i] ? x.at[i] : 0);
}

static inline lanes lanes_select_part(lanes_part part, lanes yes, lanes no) {
    LANES_EACH(lanes, i < part.count ? yes.at[i] : no.at[i]);
}

static inline lanes lanes_keep_part(lanes_part part, lanes x) {
    LANES_EACH(lanes, i < part.count ? x.at[i] : 0);
}

static inline float lanes_sum(lanes x) {
    return ((x.at[0] + x.at[4]) + (x.at[2] + x.at[6])) + ((x.at[1] + x.at[5]) + (x.at[3] + x.at[7]));
}

static inline float lanes_largest(lanes x) {
    float largest = x.at[0];
    for (size_t i = 1; i < LANES; i++)
        largest = largest > x.at[i] ? largest : x.at[i];
    return largest;
}

static inline float lanes_least(lanes x) {
    float least = x.at[0];
    for (size_t i = 1; i < LANES; i++)
        least = least < x.at[i] ? least : x.at[i];
    return least;
}

struct lanes_split {
    lanes whole, fraction;
    struct {
        uint32_t at[LANES];
    } power;
};

/* Adding 1.5 * 2^23 rounds to a whole number and leaves it in the low bits. */
static inline struct lanes_split lanes_split(lanes x) {
    const lanes rounder = lanes_broadcast(12582912.0F);
    struct lanes_split split;
    lanes shifted = lanes_add(x, rounder);
    split.whole = lanes_subtract(shifted, rounder);
    split.fraction = lanes_subtract(x, split.whole);
    memcpy(split.power.at, shifted.at, sizeof shifted.at);
    for (size_t i = 0; i < LANES; i++)
        split.power.at[i] <<= 23;
    return split;
}

static inline lanes lanes_scale(lanes p, struct lanes_split x) {
    uint32_t bits[LANES];
    memcpy(bits, p.at, sizeof bits);
    for (size_t i = 0; i < LANES; i++)
        bits[i] += x.power.at[i];
    memcpy(p.at, bits, sizeof bits);
    return p;
}

/* Sums in double, half of the lanes added to the other. */
typedef struct {
    double at[LANES / 2];
} lanes_double;

static inline lanes_double lanes_double_zero(void) {
    return (lanes_double){{0}};
}

static inline lanes_double lanes_double_add(lanes_double sum, lanes x) {
    for (size_t i = 0; i < LANES; i++)
        sum.at[i % (LANES / 2)] += (double)x.at[i];
    return sum;
}

static inline double lanes_double_sum(lanes_double x) {
    return (x.at[0] + x.at[2]) + (x.at[1] + x.at[3]);
}

/* Eight rows of eight. */
static inline void lanes_transpose(lanes r[LANES]) {
    for (size_t i = 0; i < LANES; i++)
        for (size_t j = i + 1; j < LANES; j++) {
            float other = r[i].at[j];
            r[i].at[j] = r[j].at[i];
            r[j].at[i] = other;
        }
}

#endif
