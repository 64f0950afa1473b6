/* core/random/torch_random against torch's own draws, bit by bit. */
#include "core/random/torch_random.h"
#include "tests/reference/golden_torch_random.h"
#include "tests/unit/core/random/hash.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { LONGEST = 32768 };

static struct torch_generator generator;
static float values[LONGEST];
static size_t permutation[LONGEST];

START_TEST(outputs_match_mt19937) {
    torch_generator_seed(&generator, golden_outputs[_i].seed);
    uint32_t outputs[1000];
    for (int i = 0; i < 1000; i++)
        outputs[i] = torch_random_uint32(&generator);
    ck_assert_uint_eq(outputs[0], golden_outputs[_i].output_0);
    ck_assert_uint_eq(outputs[1], golden_outputs[_i].output_1);
    ck_assert_uint_eq(outputs[623], golden_outputs[_i].output_623);
    ck_assert_uint_eq(outputs[624], golden_outputs[_i].output_624);
    ck_assert_uint_eq(outputs[999], golden_outputs[_i].output_999);

    torch_generator_seed(&generator, golden_outputs[_i].seed);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(torch_random_int63(&generator), golden_outputs[_i].int63[i]);
}
END_TEST

START_TEST(doubles_use_53_bits_of_two_outputs) {
    torch_generator_seed(&generator, golden_doubles[_i].seed);
    ck_assert(torch_random_double(&generator) == golden_doubles[_i].first);
    ck_assert(torch_random_double(&generator) == golden_doubles[_i].second);
}
END_TEST

START_TEST(uniform_matches_torch) {
    size_t count = golden_uniform[_i].count;
    torch_generator_seed(&generator, golden_uniform[_i].seed);
    torch_uniform(&generator, values, count, golden_uniform[_i].low, golden_uniform[_i].high);
    ck_assert_uint_eq(hash_bytes(HASH_START, values, count * sizeof *values), golden_uniform[_i].hash);
    ck_assert_int_eq(torch_random_int63(&generator), golden_uniform[_i].next);
}
END_TEST

START_TEST(normal_matches_torch_at_every_size) {
    size_t count = golden_normal[_i].count;
    torch_generator_seed(&generator, golden_normal[_i].seed);
    torch_normal(&generator, values, count, golden_normal[_i].mean, golden_normal[_i].deviation);
    ck_assert_uint_eq(hash_bytes(HASH_START, values, count * sizeof *values), golden_normal[_i].hash);
    ck_assert_int_eq(torch_random_int63(&generator), golden_normal[_i].next);
}
END_TEST

START_TEST(normal_values_match_torch) {
    torch_generator_seed(&generator, 0);
    torch_normal(&generator, values, golden_normal_values[_i].count, 0.0, 1.0);
    uint32_t bits;
    memcpy(&bits, &values[golden_normal_values[_i].index], sizeof bits);
    ck_assert_uint_eq(bits, golden_normal_values[_i].bits);
}
END_TEST

/* Draws as make_random_golden.py does; the float permutation is hashed like the other values. */
START_TEST(kept_normal_survives_other_draws) {
    torch_generator_seed(&generator, golden_kept_normal[_i].seed);
    torch_normal(&generator, values, 3, 0.0, 1.0);
    torch_uniform(&generator, values + 3, 2, 0.0, 1.0);
    torch_normal(&generator, values + 5, 17, 0.0, 1.0);
    torch_randperm(&generator, permutation, 5);
    for (int i = 0; i < 5; i++)
        values[22 + i] = (float)permutation[i];
    torch_normal(&generator, values + 27, 2, 5.0, 0.5);
    torch_normal(&generator, values + 29, 1, 0.0, 1.0);
    ck_assert_uint_eq(hash_bytes(HASH_START, values, 30 * sizeof *values), golden_kept_normal[_i].hash);
    ck_assert_int_eq(torch_random_int63(&generator), golden_kept_normal[_i].next);
}
END_TEST

START_TEST(randint_matches_torch) {
    int64_t integers[64];
    size_t count = golden_randint[_i].count;
    torch_generator_seed(&generator, golden_randint[_i].seed);
    torch_randint(&generator, integers, count, golden_randint[_i].low, golden_randint[_i].high);
    ck_assert_uint_eq(hash_bytes(HASH_START, integers, count * sizeof *integers), golden_randint[_i].hash);
    ck_assert_int_eq(torch_random_int63(&generator), golden_randint[_i].next);
}
END_TEST

START_TEST(randperm_matches_torch) {
    size_t count = golden_randperm[_i].count;
    torch_generator_seed(&generator, golden_randperm[_i].seed);
    torch_randperm(&generator, permutation, count);
    ck_assert_uint_eq(hash_indices(HASH_START, permutation, count), golden_randperm[_i].hash);
    ck_assert_int_eq(torch_random_int63(&generator), golden_randperm[_i].next);
}
END_TEST

START_TEST(a_copied_state_continues_the_stream) {
    torch_generator_seed(&generator, 42);
    torch_normal(&generator, values, 7, 0.0, 1.0); /* leaves a kept value */
    unsigned char saved[sizeof generator];
    memcpy(saved, &generator, sizeof saved);
    float first[40], second[40];
    torch_normal(&generator, first, 3, 0.0, 1.0);
    torch_normal(&generator, first + 3, 37, 0.0, 1.0);

    struct torch_generator restored;
    memcpy(&restored, saved, sizeof restored);
    ck_assert(torch_generator_is_valid(&restored));
    torch_normal(&restored, second, 3, 0.0, 1.0);
    torch_normal(&restored, second + 3, 37, 0.0, 1.0);
    ck_assert_mem_eq(first, second, sizeof first);
    ck_assert_mem_eq(&generator, &restored, sizeof restored);
}
END_TEST

/* torch.manual_seed drops the kept normal value too. */
START_TEST(seeding_drops_the_kept_value) {
    struct torch_generator fresh;
    torch_generator_seed(&fresh, 42);
    torch_generator_seed(&generator, 7);
    torch_normal(&generator, values, 7, 0.0, 1.0); /* leaves a kept value */
    torch_generator_seed(&generator, 42);
    ck_assert_mem_eq(&generator, &fresh, sizeof fresh);
}
END_TEST

START_TEST(impossible_states_are_recognised) {
    torch_generator_seed(&generator, 0);
    ck_assert(torch_generator_is_valid(&generator));
    generator.index = TORCH_STATE_WORDS + 1;
    ck_assert(!torch_generator_is_valid(&generator));
    torch_generator_seed(&generator, 0);
    generator.has_next_normal = 2;
    ck_assert(!torch_generator_is_valid(&generator));
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, outputs_match_mt19937, 0, COUNT_OF(golden_outputs));
    tcase_add_loop_test(tests, doubles_use_53_bits_of_two_outputs, 0, COUNT_OF(golden_doubles));
    tcase_add_loop_test(tests, uniform_matches_torch, 0, COUNT_OF(golden_uniform));
    tcase_add_loop_test(tests, normal_matches_torch_at_every_size, 0, COUNT_OF(golden_normal));
    tcase_add_loop_test(tests, normal_values_match_torch, 0, COUNT_OF(golden_normal_values));
    tcase_add_loop_test(tests, kept_normal_survives_other_draws, 0, COUNT_OF(golden_kept_normal));
    tcase_add_loop_test(tests, randint_matches_torch, 0, COUNT_OF(golden_randint));
    tcase_add_loop_test(tests, randperm_matches_torch, 0, COUNT_OF(golden_randperm));
    tcase_add_test(tests, a_copied_state_continues_the_stream);
    tcase_add_test(tests, seeding_drops_the_kept_value);
    tcase_add_test(tests, impossible_states_are_recognised);
}
