/* numpy's random stream: see numpy_random.h. The order of operations follows numpy 1.24 (bit_generator.pyx,
 * _pcg64.pyx, distributions.c, _generator.pyx). No product may be fused into a sum, so this file needs
 * -ffp-contract=off. */
#include "core/random/numpy_random.h"
#include "core/random/numpy_ziggurat.h"

#include <math.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

_Static_assert(sizeof(struct numpy_generator) == 40, "checkpoints store these bytes");

static uint128 join_halves(uint64_t high, uint64_t low) {
    return (uint128)high << 64 | low;
}

static void advance_state(struct numpy_generator *generator) {
    const uint128 multiplier = join_halves(UINT64_C(0x2360ed051fc65da4), UINT64_C(0x4385df649fccf645));
    uint128 state = join_halves(generator->state_high, generator->state_low) * multiplier +
                    join_halves(generator->increment_high, generator->increment_low);
    generator->state_high = (uint64_t)(state >> 64);
    generator->state_low = (uint64_t)state;
}

enum { POOL_WORDS = 4 };

/* SeedSequence's two hashes; the first updates its constant at each call. */
static uint32_t hash_word(uint32_t value, uint32_t *constant) {
    value ^= *constant;
    *constant *= 0x931e8875u;
    value *= *constant;
    return value ^ value >> 16;
}

static uint32_t mix_words(uint32_t left, uint32_t right) {
    uint32_t mixed = 0xca01f9ddu * left - 0x4973f715u * right;
    return mixed ^ mixed >> 16;
}

static void fill_pool(uint32_t pool[POOL_WORDS], const uint32_t *words, size_t count) {
    uint32_t constant = 0x43b0d7e5u;
    for (size_t i = 0; i < POOL_WORDS; i++)
        pool[i] = hash_word(i < count ? words[i] : 0, &constant);
    for (size_t source = 0; source < POOL_WORDS; source++)
        for (size_t target = 0; target < POOL_WORDS; target++)
            if (source != target)
                pool[target] = mix_words(pool[target], hash_word(pool[source], &constant));
    for (size_t i = POOL_WORDS; i < count; i++)
        for (size_t target = 0; target < POOL_WORDS; target++)
            pool[target] = mix_words(pool[target], hash_word(words[i], &constant));
}

/* SeedSequence.generate_state(4, uint64). */
static void generate_seeds(const uint32_t pool[POOL_WORDS], uint64_t seeds[4]) {
    uint32_t constant = 0x8b51f9ddu;
    for (size_t i = 0; i < 8; i++) {
        uint32_t value = pool[i % POOL_WORDS] ^ constant;
        constant *= 0x58f38dedu;
        value *= constant;
        value ^= value >> 16;
        seeds[i / 2] = i % 2 == 0 ? value : seeds[i / 2] | (uint64_t)value << 32;
    }
}

void numpy_generator_seed_words(struct numpy_generator *generator, const uint32_t *words, size_t count) {
    uint32_t pool[POOL_WORDS];
    uint64_t seeds[4];
    fill_pool(pool, words, count);
    generate_seeds(pool, seeds);

    uint128 increment = join_halves(seeds[2], seeds[3]) << 1 | 1;
    uint128 state = increment + join_halves(seeds[0], seeds[1]);
    generator->increment_high = (uint64_t)(increment >> 64);
    generator->increment_low = (uint64_t)increment;
    generator->state_high = (uint64_t)(state >> 64);
    generator->state_low = (uint64_t)state;
    generator->kept_half = 0;
    generator->has_kept_half = 0;
    advance_state(generator);
}

void numpy_generator_seed(struct numpy_generator *generator, uint64_t seed) {
    const uint32_t words[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    numpy_generator_seed_words(generator, words, words[1] != 0 ? 2 : 1);
}

bool numpy_generator_is_valid(const struct numpy_generator *generator) {
    return (generator->increment_low & 1) == 1 && generator->has_kept_half <= 1;
}

uint64_t numpy_random_uint64(struct numpy_generator *generator) {
    advance_state(generator);
    uint64_t folded = generator->state_high ^ generator->state_low;
    unsigned rotation = (unsigned)(generator->state_high >> 58);
    return folded >> rotation | folded << (-rotation & 63);
}

uint32_t numpy_random_uint32(struct numpy_generator *generator) {
    if (generator->has_kept_half) {
        uint32_t kept = generator->kept_half;
        generator->has_kept_half = 0;
        generator->kept_half = 0;
        return kept;
    }
    uint64_t random = numpy_random_uint64(generator);
    generator->kept_half = (uint32_t)(random >> 32);
    generator->has_kept_half = 1;
    return (uint32_t)random;
}

double numpy_random_double(struct numpy_generator *generator) {
    return (double)(numpy_random_uint64(generator) >> 11) * 0x1p-53;
}

double numpy_uniform(struct numpy_generator *generator, double low, double high) {
    return low + (high - low) * numpy_random_double(generator);
}

/* Draws a value beyond the outermost strip (Marsaglia 1964). The sign is a bit of the draw that led here. */
static double draw_tail(struct numpy_generator *generator, bool negative) {
    const double edge = 3.6541528853610087963519472518, edge_reciprocal = 0.27366123732975827203338247596;
    for (;;) {
        double beyond = -edge_reciprocal * log1p(-numpy_random_double(generator));
        double height = -log1p(-numpy_random_double(generator));
        if (height + height > beyond * beyond)
            return negative ? -(edge + beyond) : edge + beyond;
    }
}

double numpy_standard_normal(struct numpy_generator *generator) {
    for (;;) {
        uint64_t random = numpy_random_uint64(generator);
        const struct numpy_ziggurat_strip *strip = &numpy_ziggurat[random & 0xff];
        uint64_t draw = random >> 9 & ((UINT64_C(1) << 52) - 1);
        double value = (double)draw * strip->width;
        if ((random >> 8 & 1) != 0)
            value = -value;
        if (draw < strip->limit)
            return value;
        if (strip == numpy_ziggurat)
            return draw_tail(generator, (draw >> 8 & 1) != 0);
        double density =
            (strip[-1].density - strip->density) * numpy_random_double(generator) + strip->density;
        if (density < exp(-0.5 * value * value))
            return value;
    }
}

void numpy_normal(struct numpy_generator *generator, double *values, size_t count, double mean,
                  double deviation) {
    for (size_t i = 0; i < count; i++)
        values[i] = mean + deviation * numpy_standard_normal(generator);
}

/* Lemire's method: 0 <= value <= maximum. */
static uint64_t draw_bounded(struct numpy_generator *generator, uint64_t maximum) {
    if (maximum == 0)
        return 0;
    if (maximum == UINT32_MAX)
        return numpy_random_uint32(generator);
    if (maximum == UINT64_MAX)
        return numpy_random_uint64(generator);
    if (maximum < UINT32_MAX) {
        uint32_t range = (uint32_t)maximum + 1;
        uint64_t product = (uint64_t)numpy_random_uint32(generator) * range;
        if ((uint32_t)product < range) {
            uint32_t threshold = (UINT32_MAX - (uint32_t)maximum) % range;
            while ((uint32_t)product < threshold)
                product = (uint64_t)numpy_random_uint32(generator) * range;
        }
        return product >> 32;
    }
    uint64_t range = maximum + 1;
    uint128 product = (uint128)numpy_random_uint64(generator) * range;
    if ((uint64_t)product < range) {
        uint64_t threshold = (UINT64_MAX - maximum) % range;
        while ((uint64_t)product < threshold)
            product = (uint128)numpy_random_uint64(generator) * range;
    }
    return (uint64_t)(product >> 64);
}

int64_t numpy_integer(struct numpy_generator *generator, int64_t low, int64_t high) {
    uint64_t maximum = (uint64_t)high - (uint64_t)low - 1;
    return (int64_t)((uint64_t)low + draw_bounded(generator, maximum));
}

void numpy_integers(struct numpy_generator *generator, int64_t *values, size_t count, int64_t low,
                    int64_t high) {
    for (size_t i = 0; i < count; i++)
        values[i] = numpy_integer(generator, low, high);
}

uint64_t numpy_random_interval(struct numpy_generator *generator, uint64_t maximum) {
    if (maximum == 0)
        return 0;
    uint64_t mask = maximum;
    for (unsigned shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    uint64_t value;
    do {
        value = maximum <= UINT32_MAX ? numpy_random_uint32(generator) : numpy_random_uint64(generator);
        value &= mask;
    } while (value > maximum);
    return value;
}

static void swap_entries(size_t *values, size_t left, size_t right) {
    size_t value = values[left];
    values[left] = values[right];
    values[right] = value;
}

void numpy_shuffle(struct numpy_generator *generator, size_t *values, size_t count) {
    for (size_t i = count; i-- > 1;)
        swap_entries(values, i, (size_t)numpy_random_interval(generator, i));
}

void numpy_permutation(struct numpy_generator *generator, size_t *permutation, size_t count) {
    for (size_t i = 0; i < count; i++)
        permutation[i] = i;
    numpy_shuffle(generator, permutation, count);
}

void numpy_choice(struct numpy_generator *generator, size_t *chosen, size_t count, size_t population) {
    for (size_t i = 0; i < count; i++)
        chosen[i] = (size_t)draw_bounded(generator, population - 1);
}

/* The shuffle inside choice. Unlike numpy_shuffle it draws by Lemire's method, and only down to `first`. */
static void shuffle_down_to(struct numpy_generator *generator, size_t *values, size_t count, size_t first) {
    for (size_t i = count; i-- > first;)
        swap_entries(values, i, (size_t)draw_bounded(generator, i));
}

/* Floyd's sampling (Bentley and Floyd 1987); taken[population] marks the indices already chosen. */
static void choose_by_floyd(struct numpy_generator *generator, size_t *chosen, size_t count,
                            size_t population, size_t *taken) {
    memset(taken, 0, population * sizeof *taken);
    for (size_t i = 0; i < count; i++) {
        size_t last = population - count + i;
        size_t value = (size_t)draw_bounded(generator, last);
        if (taken[value] != 0)
            value = last;
        taken[value] = 1;
        chosen[i] = value;
    }
    shuffle_down_to(generator, chosen, count, 1);
}

void numpy_choice_distinct(struct numpy_generator *generator, size_t *chosen, size_t count, size_t population,
                           size_t *workspace) {
    if (population <= 10000 || count <= population / 50) {
        choose_by_floyd(generator, chosen, count, population, workspace);
        return;
    }
    for (size_t i = 0; i < population; i++)
        workspace[i] = i;
    size_t first = population - count;
    shuffle_down_to(generator, workspace, population, first > 1 ? first : 1);
    memcpy(chosen, workspace + first, count * sizeof *chosen);
}

/* The first index whose cumulative probability is above `probability`. */
static size_t find_above(const double *cumulative, size_t count, double probability) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cumulative[middle] <= probability)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void numpy_choice_weighted(struct numpy_generator *generator, size_t *chosen, size_t count, size_t population,
                           const double *probabilities, double *workspace) {
    double total = 0;
    for (size_t i = 0; i < population; i++) {
        total += probabilities[i];
        workspace[i] = total;
    }
    for (size_t i = 0; i < population; i++)
        workspace[i] /= total;
    for (size_t i = 0; i < count; i++)
        chosen[i] = find_above(workspace, population, numpy_random_double(generator));
}
