/* numpy's random stream, to the bit, as numpy.random.default_rng(seed) gives it on x86-64.
 *
 * SeedSequence and PCG64 (O'Neill 2014) give the outputs. Normal values come from a ziggurat of 256 strips
 * (Marsaglia and Tsang 2000). Bounded integers come from Lemire's method (2019) in integers and choice, and
 * from masked rejection in shuffle and permutation. The struct is flat and has no padding: copying it saves
 * and restores a stream. The bits are those of numpy 1.24. */
#ifndef ATTNLAB_CORE_RANDOM_NUMPY_RANDOM_H
#define ATTNLAB_CORE_RANDOM_NUMPY_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 128-bit numbers are stored as halves, so that the layout is the same with every compiler. */
struct numpy_generator {
    uint64_t state_high, state_low;
    uint64_t increment_high, increment_low;
    uint32_t kept_half; /* the upper half of an output of which only the lower has been used */
    uint32_t has_kept_half;
};

/* default_rng(seed) for 0 <= seed < 2^64. */
void numpy_generator_seed(struct numpy_generator *generator, uint64_t seed);

/* default_rng([w0, w1, ...]) with every entry below 2^32; `count` >= 1. */
void numpy_generator_seed_words(struct numpy_generator *generator, const uint32_t *words, size_t count);

/* Whether a generator can be in this state. For states that come from outside, such as a checkpoint. */
bool numpy_generator_is_valid(const struct numpy_generator *generator);

/* The next output, and the next half of an output: the low half first, the high half at the next call. */
uint64_t numpy_random_uint64(struct numpy_generator *generator);
uint32_t numpy_random_uint32(struct numpy_generator *generator);

/* random(): uniform in [0, 1). uniform(low, high): below high, unless rounding reaches it. */
double numpy_random_double(struct numpy_generator *generator);
double numpy_uniform(struct numpy_generator *generator, double low, double high);

/* standard_normal() and normal(mean, deviation, count): float64, as numpy draws them. */
double numpy_standard_normal(struct numpy_generator *generator);
void numpy_normal(struct numpy_generator *generator, double *values, size_t count, double mean,
                  double deviation);

/* integers(low, high): low <= value < high. The values are the same for dtype int64 and int32. */
int64_t numpy_integer(struct numpy_generator *generator, int64_t low, int64_t high);
void numpy_integers(struct numpy_generator *generator, int64_t *values, size_t count, int64_t low,
                    int64_t high);

/* The bounded draw inside shuffle: 0 <= value <= maximum. */
uint64_t numpy_random_interval(struct numpy_generator *generator, uint64_t maximum);

/* shuffle of an array of indices (or, for other rows, of the indices that select them), and
 * permutation(count). */
void numpy_shuffle(struct numpy_generator *generator, size_t *values, size_t count);
void numpy_permutation(struct numpy_generator *generator, size_t *permutation, size_t count);

/* choice(population, count): indices below `population`, with replacement. */
void numpy_choice(struct numpy_generator *generator, size_t *chosen, size_t count, size_t population);

/* choice(population, count, replace=False), count <= population. `workspace` holds population entries; its
 * contents do not matter and are overwritten. */
void numpy_choice_distinct(struct numpy_generator *generator, size_t *chosen, size_t count, size_t population,
                           size_t *workspace);

/* choice(population, count, p=probabilities), with replacement. probabilities[population] are not negative
 * and not all zero; `workspace` holds population entries. */
void numpy_choice_weighted(struct numpy_generator *generator, size_t *chosen, size_t count, size_t population,
                           const double *probabilities, double *workspace);

#endif
