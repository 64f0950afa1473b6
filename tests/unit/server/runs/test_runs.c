/* The run manager: a run's lifecycle, cancelling, limits, and many runs at once. */
#include "server/system/clock.h"
#include "tests/unit/main.h"
#include "tests/unit/server/runs/runs_fixture.h"

#include <jansson.h>
#include <pthread.h>

/* A run of a quarter of an hour. */
#define LONG SETTINGS("epochs=1", "steps=1000000", "pause_ms=1")

START_TEST(a_run_succeeds) {
    char id[ID_SIZE], kinds[256];
    struct run_record run;
    open_all((struct runs_options){.worker_count = 2}, true);
    create_run(SETTINGS("epochs=2", "seed=7"), id);
    wait_for_state(id, run_state_has_ended, &run);
    ck_assert_int_eq(run.state, RUN_SUCCEEDED);
    ck_assert_str_eq(run.name, "a name");
    ck_assert_int_gt(run.created_ms, 0);
    ck_assert_int_ge(run.started_ms, run.created_ms);
    ck_assert_int_ge(run.finished_ms, run.started_ms);
    ck_assert_uint_eq(run.progress_done, 2);
    ck_assert_uint_eq(run.progress_total, 2);
    ck_assert_str_eq(run.progress_unit, "epochs");
    char *json = run_to_brief_json(&run, NULL, &error);
    json_t *object = json_loads(json, 0, NULL);
    ck_assert_ptr_nonnull(object);
    ck_assert_str_eq(json_string_value(json_object_get(object, "state")), "succeeded");
    ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(object, "parameters"), "seed")), 7);
    ck_assert(json_is_null(json_object_get(object, "error")));
    ck_assert(json_is_null(json_object_get(object, "comparison")));
    ck_assert(json_is_number(json_object_get(json_object_get(object, "result"), "test_accuracy")));
    ck_assert_uint_eq(strlen(json_string_value(json_object_get(object, "created_at"))), 24);
    json_decref(object);
    free(json);
    run_record_clear(&run);
    event_kinds(id, kinds);
    ck_assert_str_eq(kinds, "sseaeaeas."); /* queued, running, three epochs with attention, succeeded, end */
    close_all();
}
END_TEST

START_TEST(a_recurrent_model_has_no_attention_events) {
    char id[ID_SIZE], kinds[256];
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(SETTINGS("model=rnn"), id);
    assert_ends(id, RUN_SUCCEEDED);
    event_kinds(id, kinds);
    ck_assert_str_eq(kinds, "sseeees.");
    close_all();
}
END_TEST

START_TEST(a_run_fails_with_its_reason) {
    char id[ID_SIZE];
    struct run_record run;
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(SETTINGS("fail=true"), id);
    wait_for_state(id, run_state_has_ended, &run);
    ck_assert_int_eq(run.state, RUN_FAILED);
    ck_assert_str_eq(run.error, "the loss stopped being finite");
    ck_assert_ptr_null(run.result_json);
    run_record_clear(&run);
    close_all();
}
END_TEST

START_TEST(steps_are_throttled_and_the_last_is_shown) {
    char id[ID_SIZE];
    struct event *events[300];
    size_t count = 0, steps = 0;
    uint64_t cursor = 0;
    open_all((struct runs_options){.worker_count = 1}, true);
    double begun = clock_seconds();
    create_run(SETTINGS("epochs=1", "steps=250", "pause_ms=1"), id);
    assert_ends(id, RUN_SUCCEEDED);
    double seconds = clock_seconds() - begun;
    ck_assert(event_log_read(log_, id, &cursor, 300, events, &count, &error));
    const char *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (events[i]->kind == EVENT_STEP) {
            steps++;
            last = events[i]->payload;
        }
    ck_assert_uint_ge(steps, 3);
    ck_assert_double_le((double)steps, 20 * seconds + 2); /* plus the first and the last */
    ck_assert_ptr_nonnull(last);
    ck_assert_ptr_nonnull(strstr(last, "\"step\":250"));
    for (size_t i = 0; i < count; i++)
        event_release(events[i]);
    close_all();
}
END_TEST

START_TEST(a_waiting_run_is_cancelled_at_once) {
    char first[ID_SIZE], id[ID_SIZE];
    struct run_record run;
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(LONG, first);
    create_run(SETTINGS("epochs=1"), id);
    ck_assert(runs_cancel(runs, id, &run, &error));
    ck_assert_int_eq(run.state, RUN_CANCELLED);
    run_record_clear(&run);
    ck_assert(!runs_cancel(runs, id, NULL, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    error = (struct error){0};
    ck_assert(runs_cancel(runs, first, NULL, &error));
    assert_ends(first, RUN_CANCELLED);
    close_all();
}
END_TEST

START_TEST(a_running_run_is_cancelled_within_a_step) {
    char id[ID_SIZE], kinds[256];
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(LONG, id);
    wait_for_state(id, is_running, NULL);
    ck_assert(!runs_delete(runs, id, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    error = (struct error){0};
    ck_assert(runs_cancel(runs, id, NULL, &error));
    assert_ends(id, RUN_CANCELLED);
    event_kinds(id, kinds);
    ck_assert_str_eq(kinds, "sseas.");
    ck_assert(runs_delete(runs, id, &error));
    ck_assert(!runs_delete(runs, id, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    close_all();
}
END_TEST

START_TEST(a_full_queue_refuses) {
    char id[ID_SIZE];
    struct runs_counts counts;
    open_all((struct runs_options){.worker_count = 1, .queue_limit = 3, .queue_limit_per_owner = 2}, false);
    ck_assert(create("x", NULL, id));
    ck_assert(create("x", NULL, id));
    ck_assert(!create("x", NULL, id));
    ck_assert_int_eq(error.code, ERROR_LIMIT);
    ck_assert(create("y", NULL, id));
    ck_assert(!create("y", NULL, id));
    runs_count(runs, &counts);
    ck_assert_uint_eq(counts.by_state[RUN_QUEUED], 3);
    close_all();
}
END_TEST

START_TEST(one_owner_does_not_hold_all_workers) {
    char ids[3][ID_SIZE], other[ID_SIZE];
    struct runs_counts counts;
    open_all((struct runs_options){.worker_count = 3, .running_limit_per_owner = 2, .favourite_owner = "f"},
             true);
    for (int i = 0; i < 3; i++)
        ck_assert(create("x", LONG, ids[i]));
    wait_for_state(ids[0], is_running, NULL);
    wait_for_state(ids[1], is_running, NULL);
    ck_assert(create("y", NULL, other));
    assert_ends(other, RUN_SUCCEEDED);
    runs_count(runs, &counts);
    ck_assert_uint_eq(counts.by_state[RUN_RUNNING], 2);
    ck_assert_uint_eq(counts.by_state[RUN_QUEUED], 1);
    ck_assert(runs_cancel(runs, ids[0], NULL, &error));
    wait_for_state(ids[2], is_running, NULL);
    ck_assert(runs_cancel(runs, ids[1], NULL, &error));
    ck_assert(runs_cancel(runs, ids[2], NULL, &error));
    for (int i = 0; i < 3; i++)
        ck_assert(create("f", LONG, ids[i]));
    for (int i = 0; i < 3; i++)
        wait_for_state(ids[i], is_running, NULL);
    close_all();
}
END_TEST

static bool create_in(const char *network, size_t limit, struct error *failure) {
    struct parameter_set parameters;
    struct run_record run;
    counting_prepare(&parameters, NULL);
    struct run_request request = {.experiment = &counting_experiment,
                                  .parameters = &parameters,
                                  .owner = "",
                                  .network = network,
                                  .network_limit = limit};
    bool ok = runs_create(runs, &request, &run, failure);
    run_record_clear(&run);
    parameter_set_free(&parameters);
    return ok;
}

static bool (*store_runs)(struct store *, const struct comparison_record *, const struct run_record *, size_t,
                          const struct event_record *, size_t, struct error *);

static bool try_another_and_store(struct store *self, const struct comparison_record *comparison,
                                  const struct run_record *records, size_t count,
                                  const struct event_record *events, size_t event_count,
                                  struct error *failure) {
    struct error refused = {0};
    ck_assert(!create_in("192.0.2.1", 2, &refused));
    ck_assert_int_eq(refused.code, ERROR_LIMIT);
    return store_runs(self, comparison, records, count, events, event_count, failure);
}

START_TEST(runs_of_a_network_count_while_they_are_being_stored) {
    open_all((struct runs_options){.worker_count = 1}, false);
    ck_assert(create_in("192.0.2.1", 2, &error));
    store_runs = store->add_runs;
    store->add_runs = try_another_and_store;
    ck_assert_msg(create_in("192.0.2.1", 2, &error), "%s", error.message);
    store->add_runs = store_runs;
    ck_assert(!create_in("192.0.2.1", 2, &error));
    error = (struct error){0};
    ck_assert(create_in("192.0.2.2", 2, &error));
    close_all();
}
END_TEST

static bool (*list_stored)(struct store *, const struct run_filter *, struct run_record **, size_t *,
                           struct error *);

/* Lists runs as if no progress had been stored since they began. */
static bool list_as_begun(struct store *self, const struct run_filter *filter, struct run_record **list,
                          size_t *count, struct error *failure) {
    bool ok = list_stored(self, filter, list, count, failure);
    for (size_t i = 0; ok && i < *count; i++)
        (*list)[i].progress_done = 0;
    return ok;
}

START_TEST(listings_show_live_progress) {
    char id[ID_SIZE];
    struct run_filter filter = {.state = -1, .limit = 10};
    struct run_record *list = NULL;
    size_t count = 0, done = 0;
    open_all((struct runs_options){.worker_count = 1}, true);
    list_stored = store->list_runs;
    store->list_runs = list_as_begun;
    atomic_store(&counting_hold_epoch, 5);
    create_run(SETTINGS("epochs=1000", "steps=1"), id);
    for (int waited = 0; done < 5 && waited < WAIT_MS; waited++) {
        ck_assert(runs_list(runs, &filter, &list, &count, &error));
        ck_assert_uint_eq(count, 1);
        done = list[0].progress_done;
        run_record_clear(&list[0]);
        free(list);
        sleep_ms(1);
    }
    ck_assert_uint_eq(done, 5);
    close_all();
}
END_TEST

enum { OWNERS = 8, RUNS_AN_OWNER = 10 };
static char crowd_ids[OWNERS][RUNS_AN_OWNER][ID_SIZE];

static void *create_many(void *argument) {
    size_t owner = *(size_t *)argument;
    char name[16];
    snprintf(name, sizeof name, "owner%zu", owner);
    for (size_t i = 0; i < RUNS_AN_OWNER; i++) {
        struct parameter_set parameters;
        struct run_record run;
        struct error failure = {0};
        counting_prepare(&parameters, NULL);
        struct run_request request = {
            .experiment = &counting_experiment, .parameters = &parameters, .owner = name};
        if (!runs_create(runs, &request, &run, &failure))
            abort();
        memcpy(crowd_ids[owner][i], run.id, ID_SIZE);
        if (i == 3)
            runs_cancel(runs, run.id, NULL, NULL);
        run_record_clear(&run);
        parameter_set_free(&parameters);
    }
    return NULL;
}

START_TEST(a_crowd_starts_runs_and_none_is_lost) {
    pthread_t threads[OWNERS];
    size_t numbers[OWNERS];
    open_all((struct runs_options){.worker_count = 2}, true);
    for (size_t i = 0; i < OWNERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, create_many, &numbers[i]);
    }
    for (size_t i = 0; i < OWNERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < OWNERS; i++)
        for (size_t j = 0; j < RUNS_AN_OWNER; j++) {
            struct run_record run;
            wait_for_state(crowd_ids[i][j], run_state_has_ended, &run);
            ck_assert(run.state == RUN_SUCCEEDED || (j == 3 && run.state == RUN_CANCELLED));
            run_record_clear(&run);
        }
    close_all();
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, a_run_succeeds);
    tcase_add_test(tests, a_recurrent_model_has_no_attention_events);
    tcase_add_test(tests, a_run_fails_with_its_reason);
    tcase_add_test(tests, steps_are_throttled_and_the_last_is_shown);
    tcase_add_test(tests, a_waiting_run_is_cancelled_at_once);
    tcase_add_test(tests, a_running_run_is_cancelled_within_a_step);
    tcase_add_test(tests, a_full_queue_refuses);
    tcase_add_test(tests, one_owner_does_not_hold_all_workers);
    tcase_add_test(tests, runs_of_a_network_count_while_they_are_being_stored);
    tcase_add_test(tests, listings_show_live_progress);
    tcase_add_test(tests, a_crowd_starts_runs_and_none_is_lost);
}
