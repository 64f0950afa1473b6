/* Good and bad IDX files. */
#include "core/tasks/idx.h"
#include "tests/unit/core/tasks/idx_bytes.h"
#include "tests/unit/main.h"

enum { COUNT = 12, LIMIT = 1000 };

static const uint8_t values[COUNT] = {1, 2, 3, 4, 5, 6, 250, 251, 252, 253, 254, 255};
static const size_t shape[] = {2, 2, 3};

static struct idx_bytes plain, gzipped;

static void setup(void) {
    plain = idx_bytes_make(shape, 3, values, COUNT);
    gzipped = idx_bytes_gzip(plain);
}

static void teardown(void) {
    free(plain.bytes);
    free(gzipped.bytes);
}

static void assert_refused(const void *bytes, size_t size, enum error_code code, const char *message) {
    struct idx_array array;
    struct error error = {0};
    ck_assert(!idx_parse(bytes, size, LIMIT, &array, &error));
    ck_assert_ptr_null(array.values);
    ck_assert_int_eq(error.code, code);
    if (message != NULL)
        ck_assert_str_eq(error.message, message);
}

START_TEST(plain_and_gzipped_files_are_read) {
    const struct idx_bytes files[] = {plain, gzipped};
    for (size_t i = 0; i < 2; i++) {
        struct idx_array array;
        struct error error = {0};
        ck_assert_msg(idx_parse(files[i].bytes, files[i].size, COUNT, &array, &error), "%s", error.message);
        ck_assert_uint_eq(array.rank, 3);
        ck_assert_int_eq(memcmp(array.shape, shape, sizeof shape), 0);
        ck_assert_uint_eq(array.count, COUNT);
        ck_assert_int_eq(memcmp(array.values, values, COUNT), 0);
        idx_free(&array);
    }
}
END_TEST

START_TEST(every_truncation_is_refused) {
    for (size_t size = 0; size < plain.size; size++)
        assert_refused(plain.bytes, size, ERROR_INVALID, "is incomplete: it ends too early");
    for (size_t size = 2; size < gzipped.size; size++)
        assert_refused(gzipped.bytes, size, ERROR_INVALID, "is incomplete: it ends too early");
}
END_TEST

START_TEST(more_data_than_the_header_says_is_refused) {
    unsigned char longer[256] = {0};
    memcpy(longer, plain.bytes, plain.size);
    assert_refused(longer, plain.size + 1, ERROR_INVALID, "is longer than its header says");
    memcpy(longer, gzipped.bytes, gzipped.size);
    assert_refused(longer, gzipped.size + 1, ERROR_INVALID, "is longer than its header says");
    struct idx_bytes extra = idx_bytes_make((const size_t[]){2}, 1, values, 3);
    struct idx_bytes packed = idx_bytes_gzip(extra);
    assert_refused(packed.bytes, packed.size, ERROR_INVALID, "is longer than its header says");
    free(extra.bytes);
    free(packed.bytes);
}
END_TEST

/* Ten million zeros, compressed to ten thousand bytes, after a header that announces three or all of them. */
START_TEST(a_bomb_is_not_inflated) {
    enum { BOMB = 10000000 };
    uint8_t *zeros = calloc(BOMB, 1);
    const size_t said[] = {3, BOMB};
    for (size_t i = 0; i < 2; i++) {
        struct idx_bytes bomb = idx_bytes_make(&said[i], 1, zeros, BOMB);
        struct idx_bytes packed = idx_bytes_gzip(bomb);
        if (said[i] > LIMIT)
            assert_refused(packed.bytes, packed.size, ERROR_TOO_LARGE, "holds more than 1000 values");
        else
            assert_refused(packed.bytes, packed.size, ERROR_INVALID, "is longer than its header says");
        free(bomb.bytes);
        free(packed.bytes);
    }
    free(zeros);
}
END_TEST

START_TEST(bad_headers_are_refused) {
    const char *not_idx = "is not an IDX file of bytes in at most 4 dimensions";
    const unsigned char floats[] = {0, 0, 13, 1, 0, 0, 0, 1, 0, 0, 0, 0};
    assert_refused(floats, sizeof floats, ERROR_INVALID, not_idx);
    const unsigned char deep[] = {0, 0, 8, 5, 0, 0, 0, 1};
    assert_refused(deep, sizeof deep, ERROR_INVALID, not_idx);
    const unsigned char flat[] = {0, 0, 8, 0, 1};
    assert_refused(flat, sizeof flat, ERROR_INVALID, not_idx);
    assert_refused("<html>", 6, ERROR_INVALID, not_idx);
    const unsigned char empty[] = {0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 0};
    assert_refused(empty, sizeof empty, ERROR_INVALID, "is empty: dimension 2 is 0");
    const unsigned char huge[] = {0,    0,    8,    3,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0};
    assert_refused(huge, sizeof huge, ERROR_TOO_LARGE, "holds more than 1000 values");
}
END_TEST

/* gzip's checksum detects damage to the values; damage to the time stamp in its header does no harm. */
START_TEST(no_flipped_bit_gives_other_values) {
    for (size_t bit = 0; bit < 8 * gzipped.size; bit++) {
        gzipped.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        struct idx_array array;
        struct error error = {0};
        if (idx_parse(gzipped.bytes, gzipped.size, LIMIT, &array, &error)) {
            ck_assert_uint_eq(array.count, COUNT);
            ck_assert_int_eq(memcmp(array.values, values, COUNT), 0);
            idx_free(&array);
        } else {
            ck_assert_int_ne(error.code, ERROR_NONE);
        }
        gzipped.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, plain_and_gzipped_files_are_read);
    tcase_add_test(tests, every_truncation_is_refused);
    tcase_add_test(tests, more_data_than_the_header_says_is_refused);
    tcase_add_test(tests, a_bomb_is_not_inflated);
    tcase_add_test(tests, bad_headers_are_refused);
    tcase_add_test(tests, no_flipped_bit_gives_other_values);
}
