/* The shortest decimal text of a float32 or float64.
 *
 * An attention matrix of 240 x 240 is 57,600 numbers, so the float32 path works in float64 arithmetic instead
 * of printing and parsing: a candidate of n digits is an integer q with value ~ q / 10^s, and both q and
 * 10^s are exact in float64, so the quotient is rounded once, as a parser would. */
#include "server/formats/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* float32 preserves any six digits, so the search starts at six; shorter texts are six digits that end in
 * zeros. */
enum { SURE_DIGITS = 6, FLOAT32_DIGITS = 9, EXACT_POWER = 22 };

static const double power_of_ten[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A parser that reads float32 directly rounds once; one that goes through float64 rounds twice. Their results
 * differ only if the float64 lies halfway between two float32. */
static bool is_float32_midpoint(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & 0x1fffffffu) == 0x10000000u;
}

/* floor(log10(magnitude)) within the range of the exact powers; outside it, any value beyond the range. */
static int decimal_exponent(double magnitude) {
    int exponent = (int)floor(ilogb(magnitude) * 0.30102999566398120); /* log10(2): this one or the next */
    if (abs(exponent) >= EXACT_POWER)
        return exponent;
    double next = exponent + 1 < 0 ? 1.0 / power_of_ten[-(exponent + 1)] : power_of_ten[exponent + 1];
    return magnitude >= next ? exponent + 1 : exponent;
}

/* Finds the fewest digits q and the scale s with (float)(q / 10^s) == magnitude. False outside the range in
 * which the powers are exact. */
static bool shortest_digits(float magnitude, uint64_t *digits, int *scale) {
    int exponent = decimal_exponent((double)magnitude);
    for (int count = SURE_DIGITS; count <= FLOAT32_DIGITS; count++) {
        int shift = count - 1 - exponent;
        if (abs(shift) > EXACT_POWER)
            return false;
        double power = power_of_ten[abs(shift)];
        double q = nearbyint(shift < 0 ? (double)magnitude / power : (double)magnitude * power);
        double back = shift < 0 ? q * power : q / power;
        if ((float)back == magnitude && !is_float32_midpoint(back)) {
            *digits = (uint64_t)q;
            *scale = shift;
            return true;
        }
    }
    return false;
}

/* Writes q / 10^scale: positional for everyday sizes, with an exponent for others. */
static void append_decimal(struct text *text, uint64_t q, int scale) {
    while (q % 10 == 0) {
        q /= 10;
        scale--;
    }
    char reversed[24];
    int count = 0;
    for (; q > 0; q /= 10)
        reversed[count++] = (char)('0' + q % 10);
    int exponent = count - 1 - scale; /* the power of ten of the first digit */
    char out[64];
    int length = 0;
    if (exponent < -5 || exponent > 14) {
        out[length++] = reversed[--count];
        if (count > 0)
            out[length++] = '.';
        while (count > 0)
            out[length++] = reversed[--count];
        length += snprintf(out + length, sizeof out - (size_t)length, "e%d", exponent);
    } else {
        int place =
            exponent < 0 ? 0 : exponent; /* the power of ten of the next digit; negative after the point */
        for (; place >= 0 || count > 0; place--) {
            if (place == -1)
                out[length++] = '.';
            bool is_leading_zero = place > exponent;
            out[length++] = is_leading_zero || count == 0 ? '0' : reversed[--count];
        }
    }
    text_append(text, out, (size_t)length);
}

void text_append_real(struct text *text, float value) {
    if (!isfinite(value)) {
        text_append_string(text, "null");
        return;
    }
    if (signbit(value))
        text_append(text, "-", 1);
    float magnitude = fabsf(value);
    uint64_t digits;
    int scale;
    if (magnitude == 0.0f) {
        text_append_string(text, "0.0");
    } else if (shortest_digits(magnitude, &digits, &scale)) {
        append_decimal(text, digits, scale);
    } else {
        char out[32];
        for (int precision = 1; precision <= FLOAT32_DIGITS; precision++) {
            snprintf(out, sizeof out, "%.*g", precision, (double)magnitude);
            if (strtof(out, NULL) == magnitude)
                break;
        }
        text_append_string(text, out);
    }
}

void text_append_number(struct text *text, double value) {
    if (!isfinite(value)) {
        text_append_string(text, "null");
        return;
    }
    char out[40];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(out, sizeof out, "%.*g", precision, value);
        if (strtod(out, NULL) == value)
            break;
    }
    text_append_string(text, out);
}
