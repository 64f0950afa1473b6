/* The table of run states: names, final states, and allowed changes. */
#include "server/store/store.h"
#include "tests/unit/main.h"

START_TEST(every_state_has_a_name_that_finds_it) {
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        ck_assert_int_eq(run_state_find(run_state_name(state)), state);
    ck_assert_ptr_null(run_state_names[RUN_STATE_COUNT]);
    ck_assert_int_eq(run_state_find("done"), -1);
    ck_assert_int_eq(run_state_find(""), -1);
}
END_TEST

START_TEST(stored_numbers_do_not_change) {
    ck_assert_int_eq(run_state_find("queued"), 0);
    ck_assert_int_eq(run_state_find("running"), 1);
    ck_assert_int_eq(run_state_find("succeeded"), 2);
    ck_assert_int_eq(run_state_find("failed"), 3);
    ck_assert_int_eq(run_state_find("cancelled"), 4);
}
END_TEST

START_TEST(nothing_follows_a_final_state_and_every_other_leads_to_one) {
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++) {
        bool leads_to_an_end = false;
        for (enum run_state next = 0; next < RUN_STATE_COUNT; next++) {
            bool may_follow = run_state_may_follow(state, next);
            ck_assert(!may_follow || !run_state_has_ended(state));
            leads_to_an_end |= may_follow && run_state_has_ended(next);
        }
        ck_assert_msg(leads_to_an_end != run_state_has_ended(state), "%s", run_state_name(state));
    }
    ck_assert(!run_state_has_ended(RUN_QUEUED));
    ck_assert(!run_state_has_ended(RUN_RUNNING));
    ck_assert(run_state_has_ended(RUN_CANCELLED));
}
END_TEST

START_TEST(a_record_changes_only_as_the_table_allows) {
    struct run_record record = {.state = RUN_QUEUED};
    struct error error = {0};
    ck_assert(!run_record_set_state(&record, RUN_SUCCEEDED, &error));
    ck_assert_int_eq(error.code, ERROR_INTERNAL);
    ck_assert_str_eq(error.message, "a run that is queued cannot become succeeded");
    ck_assert_int_eq(record.state, RUN_QUEUED);
    ck_assert(run_record_set_state(&record, RUN_RUNNING, NULL));
    ck_assert(run_record_set_state(&record, RUN_QUEUED, NULL));
    ck_assert(run_record_set_state(&record, RUN_CANCELLED, NULL));
    ck_assert(!run_record_set_state(&record, RUN_QUEUED, NULL));
    ck_assert_int_eq(record.state, RUN_CANCELLED);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, every_state_has_a_name_that_finds_it);
    tcase_add_test(tests, stored_numbers_do_not_change);
    tcase_add_test(tests, nothing_follows_a_final_state_and_every_other_leads_to_one);
    tcase_add_test(tests, a_record_changes_only_as_the_table_allows);
}
