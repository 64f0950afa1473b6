/* Counting wrong tokens per address within a minute. */
#include "server/access/wrong_tokens.h"
#include "tests/unit/main.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

static struct wrong_tokens *tokens;

static void setup(void) {
    tokens = wrong_tokens_open(NULL);
    ck_assert_ptr_nonnull(tokens);
}

static void teardown(void) {
    wrong_tokens_close(tokens);
}

static void count_many(const char *address, int count, double now) {
    for (int i = 0; i < count; i++)
        wrong_tokens_count(tokens, address, now);
}

START_TEST(the_tenth_wrong_token_within_a_minute_blocks_the_address) {
    count_many("192.0.2.1", WRONG_TOKENS_MAXIMUM - 1, 100);
    ck_assert_uint_eq(wrong_tokens_find_wait(tokens, "192.0.2.1", 130), 0);
    count_many("192.0.2.1", 1, 130);
    ck_assert_uint_eq(wrong_tokens_find_wait(tokens, "192.0.2.1", 130), 30);
    ck_assert_uint_eq(wrong_tokens_find_wait(tokens, "192.0.2.1", 159.5), 1);
    ck_assert_uint_eq(wrong_tokens_find_wait(tokens, "192.0.2.2", 130), 0);
    ck_assert_uint_eq(wrong_tokens_find_wait(tokens, "192.0.2.1", 160), 0);
    count_many("192.0.2.1", WRONG_TOKENS_MAXIMUM - 1, 161);
    ck_assert_uint_eq(wrong_tokens_find_wait(tokens, "192.0.2.1", 161), 0);
}
END_TEST

START_TEST(thousands_of_addresses_do_not_unblock_a_blocked_one) {
    char address[INET6_ADDRSTRLEN];
    count_many("192.0.2.1", WRONG_TOKENS_MAXIMUM, 100);
    for (int i = 0; i < 5000; i++) {
        snprintf(address, sizeof address, "198.51.%d.%d", i / 250, i % 250);
        count_many(address, 1, 101);
    }
    ck_assert_uint_gt(wrong_tokens_find_wait(tokens, "192.0.2.1", 102), 0);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, the_tenth_wrong_token_within_a_minute_blocks_the_address);
    tcase_add_test(tests, thousands_of_addresses_do_not_unblock_a_blocked_one);
}
