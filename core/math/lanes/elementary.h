/* Elementary functions, applied to every lane.
 *
 * exp: Cephes' single-precision method: x = n ln 2 + r with |r| <= ln 2 / 2, a polynomial for e^r, the power
 * of two put into the exponent. tanh: 1 - 2 / (exp(2|x|) + 1), and Cephes' polynomial below 0.625, where that
 * would cancel. */
#ifndef ATTNLAB_CORE_MATH_LANES_ELEMENTARY_H
#define ATTNLAB_CORE_MATH_LANES_ELEMENTARY_H

#include "core/math/lanes/lanes.h"

/* p x + c */
LANES_INLINE lanes lanes_horner(lanes p, lanes x, float c) {
    return lanes_multiply_add(p, x, lanes_broadcast(c));
}

/* 2^f for |f| <= 1/2: the best polynomial of its degree with value 1 at 0, by relative error (9.1e-8). */
LANES_INLINE lanes lanes_exp2_fraction(lanes f) {
    lanes p = lanes_broadcast(1.32647238206118345e-3F);
    p = lanes_horner(p, f, 9.671512991189957e-3F);
    p = lanes_horner(p, f, 5.550733581185341e-2F);
    p = lanes_horner(p, f, 0.24022242426872253F);
    p = lanes_horner(p, f, 0.6931470036506653F);
    return lanes_horner(p, f, 1);
}

/* 2^x for x below 127, within 2 units in the last place, in two thirds of the instructions of exp: nothing is
 * lost in reducing x to n + f. Below LANES_LEAST_POWER it is 0; NaN stays NaN. */
LANES_INLINE lanes lanes_exp2(lanes x) {
    /* The second operand is the one that may be NaN. */
    struct lanes_split parts = lanes_split(lanes_maximum(lanes_broadcast(LANES_LEAST_POWER), x));
    return lanes_scale(lanes_exp2_fraction(parts.fraction), parts);
}

/* 1 / (1 + 2^(-x log2 e)), with log2 e in two parts so that the product loses nothing; NaN stays NaN. */
LANES_INLINE lanes lanes_sigmoid(lanes x) {
    const lanes one = lanes_broadcast(1), high = lanes_broadcast(-1.44269502162933349609F);
    lanes bounded = lanes_maximum(lanes_broadcast(-87), lanes_minimum(lanes_broadcast(87), x));
    lanes y = lanes_multiply(bounded, high);
    struct lanes_split parts = lanes_split(y);
    lanes rest = lanes_multiply_add(bounded, lanes_broadcast(-1.925963033500e-8F),
                                    lanes_multiply_subtract(bounded, high, y));
    lanes e = lanes_scale(lanes_exp2_fraction(lanes_add(parts.fraction, rest)), parts);
    return lanes_divide(one, lanes_add(one, e));
}

LANES_INLINE lanes lanes_tanh(lanes x) {
    const lanes one = lanes_broadcast(1);
    lanes magnitude = lanes_magnitude(x);
    /* e^(2|x|) = 2^y; from |x| = 9.01 on the result is 1. */
    lanes y =
        lanes_multiply(lanes_minimum(lanes_broadcast(10), magnitude), lanes_broadcast(2.8853900817779268F));
    struct lanes_split parts = lanes_split(y);
    lanes e = lanes_scale(lanes_exp2_fraction(parts.fraction), parts);
    lanes large = lanes_subtract(one, lanes_divide(lanes_broadcast(2), lanes_add(e, one)));
    lanes z = lanes_multiply(x, x);
    lanes p = lanes_broadcast(-5.70498872745e-3F);
    p = lanes_horner(p, z, 2.06390887954e-2F);
    p = lanes_horner(p, z, -5.37397155531e-2F);
    p = lanes_horner(p, z, 1.33314422036e-1F);
    p = lanes_horner(p, z, -3.33332819422e-1F);
    lanes small = lanes_multiply_add(lanes_multiply(p, z), x, x);
    return lanes_select(lanes_is_less(magnitude, lanes_broadcast(0.625F)), small,
                        lanes_with_sign_of(large, x));
}

#if LANES == 8
/* Within 2 units in the last place. Below -87.3 it is 0, above 88.3 it stays at e^88.3; NaN stays NaN. Only
 * kernels of eight lanes need it. */
LANES_INLINE lanes lanes_exp(lanes x) {
    const lanes lowest = lanes_broadcast(-87.33654F), highest = lanes_broadcast(88.376262F);
    lanes bounded = lanes_maximum(lowest, lanes_minimum(highest, x));
    struct lanes_split parts = lanes_split(lanes_multiply(bounded, lanes_broadcast(1.44269504088896341F)));
    lanes r = lanes_subtract_product(parts.whole, lanes_broadcast(0.693359375F), bounded);
    r = lanes_subtract_product(parts.whole, lanes_broadcast(-2.12194440e-4F), r);
    lanes p = lanes_broadcast(1.9875691500e-4F);
    p = lanes_horner(p, r, 1.3981999507e-3F);
    p = lanes_horner(p, r, 8.3334519073e-3F);
    p = lanes_horner(p, r, 4.1665795894e-2F);
    p = lanes_horner(p, r, 1.6666665459e-1F);
    p = lanes_horner(p, r, 5.0000001201e-1F);
    p = lanes_multiply_add(p, lanes_multiply(r, r), lanes_add(r, lanes_broadcast(1)));
    lanes result = lanes_keep(lanes_is_at_least(x, lowest), lanes_scale(p, parts));
    return lanes_select(lanes_is_nan(x), x, result);
}
#endif

#endif
