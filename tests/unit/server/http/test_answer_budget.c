/* The memory of answers: limits for one request, for students, and for all; and texts that nobody asked for.
 */
#include "server/formats/text.h"
#include "server/http/answer.h"
#include "server/http/answer_budget.h"
#include "tests/unit/main.h"

#include <stdint.h>
#include <stdlib.h>

static enum error_code take(struct answer_share *share, size_t bytes) {
    struct error error = {0};
    return answer_share_take(share, bytes, &error) ? ERROR_NONE : error.code;
}

START_TEST(a_request_that_can_never_fit_is_told_its_size) {
    struct answer_budget budget;
    answer_budget_open(&budget, 1000000);
    struct answer_share lecturer = {.budget = &budget}, student = {.budget = &budget, .is_student = true};
    struct error error = {0};
    ck_assert(!answer_share_take(&student, 500001, &error));
    ck_assert_int_eq(error.code, ERROR_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(error.message, "up to 0.5 MB"));
    ck_assert_int_eq(take(&lecturer, 1000001), ERROR_TOO_LARGE);
    ck_assert_int_eq(take(&lecturer, SIZE_MAX), ERROR_TOO_LARGE);
    ck_assert_int_eq(take(&lecturer, 1000000), ERROR_NONE);
    ck_assert_int_eq(take(&lecturer, SIZE_MAX), ERROR_TOO_LARGE);
    answer_share_keep(&lecturer, 0);
    ck_assert_int_eq(take(&student, 500000), ERROR_NONE);
    ck_assert_int_eq(take(&student, 1), ERROR_TOO_LARGE);
}
END_TEST

START_TEST(students_leave_a_quarter_and_get_back_what_is_returned) {
    struct answer_budget budget;
    answer_budget_open(&budget, 1000000);
    struct answer_share lecturer = {.budget = &budget}, one = {.budget = &budget, .is_student = true},
                        other = one;
    ck_assert_int_eq(take(&one, 500000), ERROR_NONE);
    ck_assert_int_eq(take(&other, 250000), ERROR_NONE);
    ck_assert_int_eq(take(&other, 1), ERROR_UNAVAILABLE);
    ck_assert_int_eq(take(&lecturer, 250000), ERROR_NONE);
    ck_assert_int_eq(take(&lecturer, 1), ERROR_UNAVAILABLE);
    answer_share_keep(&one, 100000);
    answer_share_keep(&one, 200000); /* it has less than that already */
    ck_assert_uint_eq(one.bytes, 100000);
    ck_assert_int_eq(take(&other, 250000), ERROR_NONE);
    ck_assert_uint_eq(budget.used, 850000);
    ck_assert_uint_eq(budget.used_by_students, 600000);
}
END_TEST

/* A run that has been started, and then an answer that says it was not, would be started twice. */
START_TEST(small_answers_are_never_refused_for_the_sake_of_large_ones) {
    struct answer_budget budget;
    answer_budget_open(&budget, 1000000);
    struct answer_share greedy = {.budget = &budget, .is_student = true}, other = greedy;
    ck_assert_int_eq(take(&greedy, 500000), ERROR_NONE);
    ck_assert_int_eq(take(&other, 250000), ERROR_NONE);
    struct request *request = calloc(1, sizeof *request);
    request->response.share = (struct answer_share){.budget = &budget, .is_student = true};
    struct text text = {0};
    ck_assert(answer_begin(request, &text, 2000));
    ck_assert(!answer_begin(request, &text, 2 * ANSWER_UNCOUNTED));
    ck_assert_uint_eq(request->response.status, 503);
    response_clear(&request->response);
    free(request);
}
END_TEST

START_TEST(a_text_without_memory_of_its_own_stays_small) {
    static const char page[4096] = {'x'};
    struct text forgotten = {0}, allowed = {0};
    text_allow(&allowed, 3 * sizeof page);
    for (size_t i = 0; i < TEXT_SMALL / sizeof page; i++)
        text_append(&forgotten, page, sizeof page);
    ck_assert(!forgotten.failed);
    text_append(&forgotten, page, 1);
    ck_assert(forgotten.failed);
    for (size_t i = 0; i < 3; i++)
        text_append(&allowed, page, sizeof page);
    ck_assert(!allowed.failed);
    ck_assert_uint_le(allowed.capacity, 3 * sizeof page + 1);
    text_append(&allowed, page, 1);
    ck_assert(allowed.failed);
    text_free(&forgotten);
    text_free(&allowed);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, a_request_that_can_never_fit_is_told_its_size);
    tcase_add_test(tests, students_leave_a_quarter_and_get_back_what_is_returned);
    tcase_add_test(tests, small_answers_are_never_refused_for_the_sake_of_large_ones);
    tcase_add_test(tests, a_text_without_memory_of_its_own_stays_small);
}
