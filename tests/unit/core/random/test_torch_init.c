/* core/random/torch_init against the parameters of torch's own modules, bit by bit. */
#include "core/random/torch_init.h"
#include "tests/reference/golden_torch_init.h"
#include "tests/unit/core/random/hash.h"
#include "tests/unit/main.h"

#include <stdlib.h>

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
enum { LONGEST = 32768 };

static struct torch_generator generator;
static float values[LONGEST];

/* `values` has the parameters one after the other, in the order in which the golden ones were hashed. */
static void check_draws(size_t count, uint64_t hash, int64_t next) {
    ck_assert_uint_eq(hash_bytes(HASH_START, values, count * sizeof *values), hash);
    ck_assert_int_eq(torch_random_int63(&generator), next);
}

START_TEST(linear_matches_torch) {
    size_t inputs = golden_linear[_i].inputs, outputs = golden_linear[_i].outputs;
    float *bias = golden_linear[_i].has_bias ? values + outputs * inputs : NULL;
    torch_generator_seed(&generator, golden_linear[_i].seed);
    torch_init_linear(&generator, inputs, outputs, values, bias);
    check_draws(outputs * inputs + (bias != NULL ? outputs : 0), golden_linear[_i].hash,
                golden_linear[_i].next);
}
END_TEST

START_TEST(recurrent_matches_torch) {
    size_t inputs = golden_recurrent[_i].inputs, hidden = golden_recurrent[_i].hidden;
    size_t rows = golden_recurrent[_i].gates * hidden;
    float *weight_hh = values + rows * inputs, *bias_ih = weight_hh + rows * hidden;
    torch_generator_seed(&generator, golden_recurrent[_i].seed);
    torch_init_recurrent(&generator, golden_recurrent[_i].gates, inputs, hidden, values, weight_hh, bias_ih,
                         bias_ih + rows);
    check_draws(rows * (inputs + hidden + 2), golden_recurrent[_i].hash, golden_recurrent[_i].next);
}
END_TEST

START_TEST(embedding_matches_torch) {
    size_t rows = golden_embedding[_i].rows, width = golden_embedding[_i].width;
    int64_t padding = golden_embedding[_i].padding;
    torch_generator_seed(&generator, golden_embedding[_i].seed);
    torch_init_embedding(&generator, rows, width, padding < 0 ? TORCH_NO_PADDING : (size_t)padding, values);
    check_draws(rows * width, golden_embedding[_i].hash, golden_embedding[_i].next);
}
END_TEST

START_TEST(multihead_attention_matches_torch) {
    size_t width = golden_multihead_attention[_i].width;
    float *in_proj_bias = values + 3 * width * width, *out_proj_weight = in_proj_bias + 3 * width;
    torch_generator_seed(&generator, golden_multihead_attention[_i].seed);
    torch_init_multihead_attention(&generator, width, values, in_proj_bias, out_proj_weight,
                                   out_proj_weight + width * width);
    check_draws(4 * width * width + 4 * width, golden_multihead_attention[_i].hash,
                golden_multihead_attention[_i].next);
}
END_TEST

START_TEST(positions_match_torch) {
    size_t length = golden_positions[_i].length, width = golden_positions[_i].width;
    torch_generator_seed(&generator, golden_positions[_i].seed);
    torch_init_positions(&generator, length, width, 0.02, values);
    check_draws(length * width, golden_positions[_i].hash, golden_positions[_i].next);
}
END_TEST

/* The chapter's attention model, whose modules are drawn one after the other. */
START_TEST(attention_model_matches_torch) {
    static const size_t outputs[] = {32, 32, 32, 2};
    float *next = values;
    torch_generator_seed(&generator, golden_attention_model[_i].seed);
    torch_init_linear(&generator, 1, 32, next, next + 32);
    torch_init_positions(&generator, 60, 32, 0.02, next + 64);
    next += 64 + 60 * 32;
    for (size_t i = 0; i < 4; i++) {
        torch_init_linear(&generator, 32, outputs[i], next, next + 32 * outputs[i]);
        next += 33 * outputs[i];
    }
    ck_assert_int_eq(next - values, 5218);
    check_draws(5218, golden_attention_model[_i].hash, golden_attention_model[_i].next);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, linear_matches_torch, 0, COUNT_OF(golden_linear));
    tcase_add_loop_test(tests, recurrent_matches_torch, 0, COUNT_OF(golden_recurrent));
    tcase_add_loop_test(tests, embedding_matches_torch, 0, COUNT_OF(golden_embedding));
    tcase_add_loop_test(tests, multihead_attention_matches_torch, 0, COUNT_OF(golden_multihead_attention));
    tcase_add_loop_test(tests, positions_match_torch, 0, COUNT_OF(golden_positions));
    tcase_add_loop_test(tests, attention_model_matches_torch, 0, COUNT_OF(golden_attention_model));
}
