/* core/random/numpy_random against numpy's own draws, bit by bit. */
#include "core/random/numpy_random.h"
#include "core/random/numpy_ziggurat.h"
#include "tests/reference/golden_numpy_random.h"
#include "tests/unit/core/random/hash.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { LONGEST = 131072 };

static struct numpy_generator generator;
static double values[LONGEST];
static size_t indices[LONGEST], workspace[LONGEST];

/* Sums over 256 little-endian entries of 8 bytes of the tables in numpy's library. */
START_TEST(ziggurat_tables_match_numpy) {
    uint64_t limit = HASH_START, width = HASH_START, density = HASH_START;
    for (int i = 0; i < NUMPY_ZIGGURAT_STRIPS; i++) {
        limit = hash_bytes(limit, &numpy_ziggurat[i].limit, 8);
        width = hash_bytes(width, &numpy_ziggurat[i].width, 8);
        density = hash_bytes(density, &numpy_ziggurat[i].density, 8);
    }
    ck_assert_uint_eq(limit, 0xd271bfe7421e8d28);
    ck_assert_uint_eq(width, 0x8dc0debf0ba9cdc4);
    ck_assert_uint_eq(density, 0x0c954fbcd5a26724);
}
END_TEST

START_TEST(seeding_matches_numpy) {
    numpy_generator_seed(&generator, golden_numpy_seeds[_i].seed);
    ck_assert(numpy_generator_is_valid(&generator));
    ck_assert_uint_eq(generator.state_high, golden_numpy_seeds[_i].state_high);
    ck_assert_uint_eq(generator.state_low, golden_numpy_seeds[_i].state_low);
    ck_assert_uint_eq(generator.increment_high, golden_numpy_seeds[_i].increment_high);
    ck_assert_uint_eq(generator.increment_low, golden_numpy_seeds[_i].increment_low);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_seeds[_i].output_0);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_seeds[_i].output_1);
}
END_TEST

START_TEST(seeding_by_words_matches_numpy) {
    numpy_generator_seed_words(&generator, golden_numpy_words[_i].words, golden_numpy_words[_i].count);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_words[_i].output_0);
}
END_TEST

START_TEST(normal_matches_numpy) {
    size_t count = golden_numpy_normal[_i].count;
    numpy_generator_seed(&generator, golden_numpy_normal[_i].seed);
    numpy_normal(&generator, values, count, golden_numpy_normal[_i].mean, golden_numpy_normal[_i].deviation);
    ck_assert_uint_eq(hash_bytes(HASH_START, values, count * sizeof *values), golden_numpy_normal[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_normal[_i].next);
}
END_TEST

START_TEST(normal_values_match_numpy) {
    numpy_generator_seed(&generator, golden_numpy_normal_values[_i].seed);
    ck_assert(numpy_standard_normal(&generator) == golden_numpy_normal_values[_i].first);
    ck_assert(numpy_standard_normal(&generator) == golden_numpy_normal_values[_i].second);
    ck_assert(numpy_standard_normal(&generator) == golden_numpy_normal_values[_i].third);
}
END_TEST

START_TEST(uniform_matches_numpy) {
    numpy_generator_seed(&generator, golden_numpy_uniform[_i].seed);
    for (int i = 0; i < 300; i++)
        values[i] = numpy_uniform(&generator, golden_numpy_uniform[_i].low, golden_numpy_uniform[_i].high);
    ck_assert_uint_eq(hash_bytes(HASH_START, values, 300 * sizeof *values), golden_numpy_uniform[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_uniform[_i].next);
}
END_TEST

START_TEST(integers_match_numpy) {
    int64_t integers[64];
    size_t count = golden_numpy_integers[_i].count;
    numpy_generator_seed(&generator, golden_numpy_integers[_i].seed);
    numpy_integers(&generator, integers, count, golden_numpy_integers[_i].low,
                   golden_numpy_integers[_i].high);
    integers[count] = (int64_t)(numpy_random_double(&generator) * 0x1p53);
    integers[count + 1] = numpy_integer(&generator, 0, 27);
    ck_assert_uint_eq(hash_bytes(HASH_START, integers, (count + 2) * sizeof *integers),
                      golden_numpy_integers[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_integers[_i].next);
}
END_TEST

START_TEST(permutation_matches_numpy) {
    size_t count = golden_numpy_permutation[_i].count;
    numpy_generator_seed(&generator, golden_numpy_permutation[_i].seed);
    numpy_permutation(&generator, indices, count);
    ck_assert_uint_eq(hash_indices(HASH_START, indices, count), golden_numpy_permutation[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_permutation[_i].next);
}
END_TEST

START_TEST(shuffle_matches_numpy) {
    for (size_t i = 0; i < 100; i++)
        indices[i] = 3 * i;
    numpy_generator_seed(&generator, golden_numpy_shuffle[_i].seed);
    numpy_shuffle(&generator, indices, 100);
    numpy_shuffle(&generator, indices, 37);
    ck_assert_uint_eq(hash_indices(HASH_START, indices, 100), golden_numpy_shuffle[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_shuffle[_i].next);
}
END_TEST

START_TEST(choice_matches_numpy) {
    size_t population = golden_numpy_choice[_i].population, count = golden_numpy_choice[_i].count;
    numpy_generator_seed(&generator, golden_numpy_choice[_i].seed);
    numpy_choice(&generator, indices, count, population);
    ck_assert_uint_eq(hash_indices(HASH_START, indices, count), golden_numpy_choice[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_choice[_i].next);

    numpy_generator_seed(&generator, golden_numpy_choice[_i].seed);
    numpy_choice_distinct(&generator, indices, count, population, workspace);
    ck_assert_uint_eq(hash_indices(HASH_START, indices, count), golden_numpy_choice[_i].distinct_hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_choice[_i].distinct_next);
}
END_TEST

START_TEST(weighted_choice_matches_numpy) {
    static const double probabilities[] = {0.1, 0.2, 0.05, 0.3, 0.35};
    double cumulative[5];
    numpy_generator_seed(&generator, golden_numpy_choice_weighted[_i].seed);
    numpy_choice_weighted(&generator, indices, 200, 5, probabilities, cumulative);
    ck_assert_uint_eq(hash_indices(HASH_START, indices, 200), golden_numpy_choice_weighted[_i].hash);
    ck_assert_uint_eq(numpy_random_uint64(&generator), golden_numpy_choice_weighted[_i].next);
}
END_TEST

START_TEST(a_copied_state_continues_the_stream) {
    numpy_generator_seed(&generator, 3);
    numpy_integer(&generator, 0, 10); /* leaves half an output unused */
    unsigned char saved[sizeof generator];
    memcpy(saved, &generator, sizeof saved);
    numpy_permutation(&generator, indices, 50);

    struct numpy_generator restored;
    memcpy(&restored, saved, sizeof restored);
    ck_assert(numpy_generator_is_valid(&restored));
    numpy_permutation(&restored, workspace, 50);
    ck_assert_mem_eq(indices, workspace, 50 * sizeof *indices);
    ck_assert_mem_eq(&generator, &restored, sizeof restored);
}
END_TEST

/* As random_interval in numpy's distributions.c: limits up to 2^32 - 1 take 32 bits, larger ones 64. */
START_TEST(intervals_take_64_bits_only_beyond_32) {
    struct numpy_generator other;
    numpy_generator_seed(&generator, 11);
    numpy_generator_seed(&other, 11);
    ck_assert_uint_eq(numpy_random_interval(&generator, UINT32_MAX), numpy_random_uint32(&other));
    ck_assert_mem_eq(&generator, &other, sizeof other);
    numpy_generator_seed(&generator, 11);
    numpy_generator_seed(&other, 11);
    uint64_t expected;
    do
        expected = numpy_random_uint64(&other) & UINT64_C(0x1ffffffff);
    while (expected > UINT64_C(1) << 32);
    ck_assert_uint_eq(numpy_random_interval(&generator, UINT64_C(1) << 32), expected);
    ck_assert_mem_eq(&generator, &other, sizeof other);
}
END_TEST

START_TEST(impossible_states_are_recognised) {
    numpy_generator_seed(&generator, 0);
    generator.increment_low ^= 1;
    ck_assert(!numpy_generator_is_valid(&generator));
    numpy_generator_seed(&generator, 0);
    generator.has_kept_half = 2;
    ck_assert(!numpy_generator_is_valid(&generator));
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, ziggurat_tables_match_numpy);
    tcase_add_loop_test(tests, seeding_matches_numpy, 0, COUNT_OF(golden_numpy_seeds));
    tcase_add_loop_test(tests, seeding_by_words_matches_numpy, 0, COUNT_OF(golden_numpy_words));
    tcase_add_loop_test(tests, normal_matches_numpy, 0, COUNT_OF(golden_numpy_normal));
    tcase_add_loop_test(tests, normal_values_match_numpy, 0, COUNT_OF(golden_numpy_normal_values));
    tcase_add_loop_test(tests, uniform_matches_numpy, 0, COUNT_OF(golden_numpy_uniform));
    tcase_add_loop_test(tests, integers_match_numpy, 0, COUNT_OF(golden_numpy_integers));
    tcase_add_loop_test(tests, permutation_matches_numpy, 0, COUNT_OF(golden_numpy_permutation));
    tcase_add_loop_test(tests, shuffle_matches_numpy, 0, COUNT_OF(golden_numpy_shuffle));
    tcase_add_loop_test(tests, choice_matches_numpy, 0, COUNT_OF(golden_numpy_choice));
    tcase_add_loop_test(tests, weighted_choice_matches_numpy, 0, COUNT_OF(golden_numpy_choice_weighted));
    tcase_add_test(tests, a_copied_state_continues_the_stream);
    tcase_add_test(tests, intervals_take_64_bits_only_beyond_32);
    tcase_add_test(tests, impossible_states_are_recognised);
}
