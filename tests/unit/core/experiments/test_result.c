/* Results: writing composite values, and numbers that are not finite. */
#include "tests/unit/core/experiments/result_tree.h"
#include "tests/unit/main.h"

#include <math.h>
#include <stdio.h>

static struct result_tree tree;
static struct result_sink sink;

static void setup(void) {
    sink = result_tree_sink(&tree);
    result_begin_object(&sink, NULL);
}

static void teardown(void) {
    result_tree_free(&tree);
}

START_TEST(values_keep_their_keys_and_kinds) {
    result_number(&sink, "loss", 0.1);
    result_real(&sink, "weight", 0.5f);
    result_integer(&sink, "steps", -3);
    result_boolean(&sink, "causal", true);
    result_text(&sink, "mask", "none");
    result_null(&sink, "absent");
    result_end_object(&sink);
    ck_assert(result_tree_value(&tree, "loss") == 0.1);
    ck_assert(result_tree_value(&tree, "weight") == 0.5);
    ck_assert(result_tree_value(&tree, "steps") == -3);
    ck_assert_int_eq(result_tree_get(&tree, "causal")->kind, RESULT_BOOLEAN);
    ck_assert_str_eq(result_tree_get(&tree, "mask")->text, "none");
    ck_assert_int_eq(result_tree_get(&tree, "absent")->kind, RESULT_NULL);
    ck_assert(!result_tree_has(&tree, "elsewhere"));
}
END_TEST

START_TEST(numbers_that_are_not_finite_are_null) {
    const float values[] = {1, -INFINITY, NAN};
    result_number(&sink, "number", (double)NAN);
    result_real(&sink, "real", INFINITY);
    result_vector(&sink, "vector", values, 3);
    result_end_object(&sink);
    ck_assert_int_eq(result_tree_get(&tree, "number")->kind, RESULT_NULL);
    ck_assert_int_eq(result_tree_get(&tree, "real")->kind, RESULT_NULL);
    ck_assert(result_tree_value(&tree, "vector.0") == 1);
    ck_assert_int_eq(result_tree_get(&tree, "vector.1")->kind, RESULT_NULL);
    ck_assert_int_eq(result_tree_get(&tree, "vector.2")->kind, RESULT_NULL);
}
END_TEST

START_TEST(matrices_are_arrays_of_rows) {
    const float values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const int64_t integers[] = {7, 8};
    result_matrix(&sink, "matrix", values, 2, 3);
    result_tensor(&sink, "tensor", values, 2, 2, 3);
    result_integers(&sink, "integers", integers, 2);
    result_end_object(&sink);
    ck_assert_uint_eq(result_tree_length(&tree, "matrix"), 2);
    ck_assert_uint_eq(result_tree_length(&tree, "matrix.0"), 3);
    ck_assert(result_tree_value(&tree, "matrix.1.0") == 4);
    ck_assert_uint_eq(result_tree_length(&tree, "tensor.1"), 2);
    ck_assert(result_tree_value(&tree, "tensor.1.1.2") == 12);
    ck_assert(result_tree_value(&tree, "integers.1") == 8);
}
END_TEST

/* The examples of RFC 4648, and bytes above 127. */
START_TEST(bytes_are_base64) {
    static const char *const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    const uint8_t high[] = {0xfb, 0xef, 0xff};
    result_begin_array(&sink, "examples");
    for (size_t i = 0; i < 7; i++)
        ck_assert(result_bytes(&sink, NULL, (const uint8_t *)"foobar", i, NULL));
    result_end_array(&sink);
    ck_assert(result_bytes(&sink, "high", high, sizeof high, NULL));
    result_end_object(&sink);
    for (size_t i = 0; i < 7; i++) {
        char path[32];
        snprintf(path, sizeof path, "examples.%zu", i);
        ck_assert_str_eq(result_tree_get(&tree, path)->text, expected[i]);
    }
    ck_assert_str_eq(result_tree_get(&tree, "high")->text, "++//");
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, values_keep_their_keys_and_kinds);
    tcase_add_test(tests, numbers_that_are_not_finite_are_null);
    tcase_add_test(tests, matrices_are_arrays_of_rows);
    tcase_add_test(tests, bytes_are_base64);
}
