/* PyTorch's CPU random stream: see torch_random.h.
 *
 * The order of operations follows PyTorch 1.13's ATen (CPUGeneratorImpl.cpp, DistributionTemplates.h) and,
 * for blocks of normal values, its AVX2 kernel, whose logarithm, sine and cosine are the single-precision
 * Cephes polynomials. This file has an explicit fma wherever PyTorch's build fuses a product into a sum;
 * every other operation rounds on its own, so the file needs -ffp-contract=off. */
#include "core/random/torch_random.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct torch_generator) == TORCH_STATE_WORDS * 4 + 16, "checkpoints store these bytes");

void torch_generator_seed(struct torch_generator *generator, uint64_t seed) {
    uint32_t word = (uint32_t)seed;
    generator->state[0] = word;
    for (uint32_t i = 1; i < TORCH_STATE_WORDS; i++) {
        word = 1812433253u * (word ^ (word >> 30)) + i;
        generator->state[i] = word;
    }
    generator->index = TORCH_STATE_WORDS;
    generator->has_next_normal = 0;
    generator->next_normal = 0;
}

bool torch_generator_is_valid(const struct torch_generator *generator) {
    return generator->index <= TORCH_STATE_WORDS && generator->has_next_normal <= 1 &&
           isfinite(generator->next_normal);
}

static uint32_t twist(uint32_t high, uint32_t low) {
    uint32_t word = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (word >> 1) ^ ((word & 1) != 0 ? 0x9908b0dfu : 0);
}

static void regenerate_state(struct torch_generator *generator) {
    enum { LENGTH = TORCH_STATE_WORDS, MIDDLE = 397 };
    uint32_t *state = generator->state;
    for (int i = 0; i < LENGTH - MIDDLE; i++)
        state[i] = state[i + MIDDLE] ^ twist(state[i], state[i + 1]);
    for (int i = LENGTH - MIDDLE; i < LENGTH - 1; i++)
        state[i] = state[i + MIDDLE - LENGTH] ^ twist(state[i], state[i + 1]);
    state[LENGTH - 1] = state[MIDDLE - 1] ^ twist(state[LENGTH - 1], state[0]);
    generator->index = 0;
}

uint32_t torch_random_uint32(struct torch_generator *generator) {
    if (generator->index == TORCH_STATE_WORDS)
        regenerate_state(generator);
    uint32_t word = generator->state[generator->index++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
}

uint64_t torch_random_uint64(struct torch_generator *generator) {
    uint64_t high = torch_random_uint32(generator);
    return high << 32 | torch_random_uint32(generator);
}

int64_t torch_random_int63(struct torch_generator *generator) {
    return (int64_t)(torch_random_uint64(generator) & INT64_MAX);
}

float torch_random_float(struct torch_generator *generator) {
    return (float)(torch_random_uint32(generator) & 0xffffff) * 0x1p-24f;
}

double torch_random_double(struct torch_generator *generator) {
    return (double)(torch_random_uint64(generator) & ((UINT64_C(1) << 53) - 1)) * 0x1p-53;
}

void torch_uniform(struct torch_generator *generator, float *values, size_t count, double low, double high) {
    float start = (float)low;
    float width = (float)high - start;
    for (size_t i = 0; i < count; i++)
        values[i] = fmaf(torch_random_float(generator), width, start);
}

/* The natural logarithm for 0 < x <= 1. */
static float kernel_log(float x) {
    static const float coefficients[] = {-1.1514610310E-1f, 1.1676998740E-1f,  -1.2420140846E-1f,
                                         1.4249322787E-1f,  -1.6668057665E-1f, 2.0000714765E-1f,
                                         -2.4999993993E-1f, 3.3333331174E-1f};
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    float exponent = (float)((int)(bits >> 23) - 126);
    bits = (bits & 0x007fffffu) | 0x3f000000u;
    float mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);

    float t = mantissa - 1.0f;
    if (mantissa < 0.707106781186547524f) {
        t = t + mantissa;
        exponent = exponent - 1.0f;
    }
    float square = t * t;
    float y = 7.0376836292E-2f;
    for (size_t i = 0; i < sizeof coefficients / sizeof coefficients[0]; i++)
        y = fmaf(y, t, coefficients[i]);
    y = y * t;
    y = fmaf(y, square, exponent * -2.12194440e-4f);
    y = y - square * 0.5f;
    return fmaf(exponent, 0.693359375f, t + y);
}

/* Sine and cosine for 0 <= x <= 2 pi. */
static void kernel_sincos(float x, float *sine, float *cosine) {
    int octant = ((int)(x * 1.27323954473516f) + 1) & ~1;
    float y = (float)octant;
    x = fmaf(y, -0.78515625f, x);
    x = fmaf(y, -2.4187564849853515625e-4f, x);
    x = fmaf(y, -3.77489497744594108e-8f, x);
    float square = x * x;

    float c = fmaf(2.443315711809948e-5f, square, -1.388731625493765e-3f);
    c = fmaf(c, square, 4.166664568298827e-2f);
    c = c * square;
    c = fmaf(c, square, -(square * 0.5f));
    c = c + 1.0f;

    float s = fmaf(-1.9515295891e-4f, square, 8.3321608736e-3f);
    s = fmaf(s, square, -1.6666654611e-1f);
    s = s * square;
    s = fmaf(s, x, x);

    bool swapped = (octant & 2) != 0;
    float sine_size = swapped ? c : s;
    float cosine_size = swapped ? s : c;
    *sine = (octant & 4) != 0 ? -sine_size : sine_size;
    *cosine = ((octant + 2) & 4) != 0 ? -cosine_size : cosine_size;
}

/* Turns 16 uniform values into 16 normal ones: entries i and i + 8 are a pair (Box and Muller 1958). */
static void transform_block(float *block, float mean, float deviation) {
    for (int i = 0; i < 8; i++) {
        float radius = sqrtf(-2.0f * kernel_log(1.0f - block[i]));
        float sine, cosine;
        kernel_sincos(6.28318548f * block[i + 8], &sine, &cosine);
        block[i] = fmaf(radius * cosine, deviation, mean);
        block[i + 8] = fmaf(radius * sine, deviation, mean);
    }
}

static void fill_blocks(struct torch_generator *generator, float *values, size_t count, float mean,
                        float deviation) {
    for (size_t i = 0; i < count; i++)
        values[i] = torch_random_float(generator);
    for (size_t i = 0; i + 16 <= count; i += 16)
        transform_block(values + i, mean, deviation);
    if (count % 16 == 0)
        return;
    /* PyTorch draws the last 16 values again, even those that a full block has just set. */
    float *tail = values + count - 16;
    for (int i = 0; i < 16; i++)
        tail[i] = torch_random_float(generator);
    transform_block(tail, mean, deviation);
}

/* One value of the serial stream. Every second one is the kept sine half, whichever call drew the cosine
 * half. */
static double next_normal(struct torch_generator *generator) {
    if (generator->has_next_normal) {
        double kept = generator->next_normal;
        generator->has_next_normal = 0;
        generator->next_normal = 0;
        return kept;
    }
    double angle = 2.0 * 3.14159265358979323846 * torch_random_double(generator);
    double radius = sqrt(-2.0 * log1p(-torch_random_double(generator)));
    generator->next_normal = radius * sin(angle);
    generator->has_next_normal = 1;
    return radius * cos(angle);
}

void torch_normal(struct torch_generator *generator, float *values, size_t count, double mean,
                  double deviation) {
    if (count >= 16) {
        fill_blocks(generator, values, count, (float)mean, (float)deviation);
        return;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = (float)fma(next_normal(generator), deviation, mean);
}

void torch_randint(struct torch_generator *generator, int64_t *values, size_t count, int64_t low,
                   int64_t high) {
    uint64_t range = (uint64_t)high - (uint64_t)low;
    for (size_t i = 0; i < count; i++) {
        uint64_t random = range >> 32 == 0 ? torch_random_uint32(generator) : torch_random_uint64(generator);
        values[i] = (int64_t)(random % range + (uint64_t)low);
    }
}

void torch_randperm(struct torch_generator *generator, size_t *permutation, size_t count) {
    for (size_t i = 0; i < count; i++)
        permutation[i] = i;
    for (size_t i = 0; i + 1 < count; i++) {
        size_t other = i + torch_random_uint32(generator) % (count - i);
        size_t value = permutation[i];
        permutation[i] = permutation[other];
        permutation[other] = value;
    }
}
