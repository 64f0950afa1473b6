/* The event log: order, cursors, stored events, resuming in a later process, many threads. */
#include "server/runs/event_log.h"
#include "server/runs/json.h"
#include "tests/unit/main.h"
#include "tests/unit/server/server_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

static struct store *store;
static struct event_log *log_;
static struct error error;

static void setup(void) {
    error = (struct error){0};
    fixture_make_directory();
    store = fixture_open_store();
    log_ = event_log_open(store, run_to_brief_json, &error);
    ck_assert_ptr_nonnull(log_);
    for (int i = 0; i < 4; i++) {
        struct run_record run = {
            .experiment = "train", .name = "", .parameters_json = "{}", .owner = "", .progress_unit = ""};
        snprintf(run.id, sizeof run.id, "run%d", i);
        ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    }
}

static void teardown(void) {
    event_log_close(log_);
    store->close(store);
    fixture_remove_directory();
}

static void reopen(void) {
    event_log_close(log_);
    store->close(store);
    store = fixture_open_store();
    log_ = event_log_open(store, run_to_brief_json, &error);
}

/* Stores events with an update of run0, whichever runs they belong to. */
static bool commit(void *argument, const struct event_record *events, size_t count, struct error *failure) {
    struct run_record run = {.id = "run0", .progress_unit = ""};
    run.state = *(enum run_state *)argument;
    return store->update_run(store, &run, false, events, count, failure);
}

static bool refuse(void *argument, const struct event_record *events, size_t count, struct error *failure) {
    (void)argument, (void)events, (void)count;
    return error_set(failure, ERROR_UNAVAILABLE, "full");
}

/* Payloads are JSON: {"is":"..."}, or the run's. */
static const char begin[] = "{\"is\":\"", end[] = "\"}";

static void publish(const char *run_id, enum event_kind kind, const char *payload) {
    enum run_state state = RUN_RUNNING;
    char json[64];
    snprintf(json, sizeof json, "%s%s%s", begin, payload, end);
    struct event *event = event_create(run_id, kind, json, &error);
    ck_assert(event_log_publish(log_, &event, 1, commit, &state, &error));
}

/* Reads the events after the cursor and moves it; `expected` is the concatenation of their payloads. */
static void assert_reads(const char *run_id, uint64_t *cursor, size_t limit, const char *expected) {
    struct event *events[64];
    size_t count = 0;
    char payloads[512] = "";
    uint64_t previous = *cursor;
    ck_assert(event_log_read(log_, run_id, cursor, limit, events, &count, &error));
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_gt(events[i]->id, previous);
        previous = events[i]->id;
        if (strncmp(events[i]->payload, begin, sizeof begin - 1) == 0)
            strncat(payloads, events[i]->payload + sizeof begin - 1,
                    events[i]->size - (sizeof begin - 1) - (sizeof end - 1));
        else
            strcat(payloads, events[i]->payload);
        char field[128];
        int length =
            snprintf(field, sizeof field, "id: %llu\nevent: %s\ndata: ", (unsigned long long)events[i]->id,
                     event_kind_name(events[i]->kind));
        ck_assert_uint_eq(events[i]->field_size, (size_t)length + events[i]->size);
        ck_assert_int_eq(strncmp(events[i]->field, field, (size_t)length), 0);
        ck_assert_ptr_eq(events[i]->field + length, events[i]->payload);
        event_release(events[i]);
    }
    ck_assert_uint_ge(*cursor, previous);
    ck_assert_str_eq(payloads, expected);
}

START_TEST(readers_see_events_in_order) {
    uint64_t one = 0, all = 0;
    publish("run0", EVENT_STATE, "a");
    publish("run1", EVENT_STATE, "b");
    publish("run0", EVENT_EPOCH, "c");
    assert_reads("run0", &one, 64, "ac");
    assert_reads(NULL, &all, 2, "ab");
    assert_reads(NULL, &all, 2, "c");
    assert_reads("run0", &one, 64, "");
    publish("run1", EVENT_EPOCH, "d");
    publish("run0", EVENT_EPOCH, "e");
    assert_reads("run0", &one, 64, "e");
    assert_reads(NULL, &all, 64, "de");
    ck_assert_uint_eq(all, event_log_newest_id(log_));
}
END_TEST

START_TEST(uncommitted_events_are_not_shown) {
    uint64_t cursor = 0;
    struct event *event = event_create("run0", EVENT_EPOCH, "lost", &error);
    ck_assert(!event_log_publish(log_, &event, 1, refuse, NULL, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
    publish("run0", EVENT_EPOCH, "kept");
    assert_reads("run0", &cursor, 64, "kept");
}
END_TEST

static bool commit_and_look(void *argument, const struct event_record *events, size_t count,
                            struct error *failure) {
    uint64_t cursor = 0;
    ck_assert(commit(argument, events, count, failure));
    assert_reads("run0", &cursor, 10, "");
    ck_assert(!event_log_is_settled(log_));
    return true;
}

/* A stream that finds its run ended relies on this: it can read the end event, or the log is not settled. */
START_TEST(the_log_settles_only_once_committed_events_are_shown) {
    uint64_t cursor = 0;
    enum run_state state = RUN_SUCCEEDED;
    struct event *event = event_create("run0", EVENT_END, "e", &error);
    ck_assert(event_log_is_settled(log_));
    ck_assert(event_log_publish(log_, &event, 1, commit_and_look, &state, &error));
    ck_assert(event_log_is_settled(log_));
    assert_reads("run0", &cursor, 10, "e");
}
END_TEST

START_TEST(a_later_process_continues_without_gap_or_repeat) {
    uint64_t cursor = 0;
    publish("run0", EVENT_STATE, "a");
    publish("run0", EVENT_EPOCH, "b");
    assert_reads("run0", &cursor, 1, "a");
    struct event *step = event_create("run0", EVENT_STEP, "step", &error);
    ck_assert(event_log_try_publish(log_, step));
    publish("run0", EVENT_EPOCH, "c");
    reopen();
    publish("run0", EVENT_EPOCH, "d");
    assert_reads("run0", &cursor, 1, "b");
    assert_reads("run0", &cursor, 64, "cd");
    assert_reads("run0", &cursor, 64, "");
}
END_TEST

START_TEST(a_cursor_at_a_lost_step_still_works) {
    uint64_t cursor = 0;
    publish("run0", EVENT_STATE, "a");
    struct event *step = event_create("run0", EVENT_STEP, "step", &error);
    ck_assert(event_log_try_publish(log_, step));
    assert_reads("run0", &cursor, 64, "astep");
    reopen();
    publish("run0", EVENT_EPOCH, "b");
    assert_reads("run0", &cursor, 64, "b");
}
END_TEST

START_TEST(old_events_come_from_the_store) {
    uint64_t cursor = 0;
    publish("run0", EVENT_STATE, "first");
    publish("run1", EVENT_STATE, "other");
    for (int i = 0; i < 5000; i++) {
        struct event *step = event_create("run1", EVENT_STEP, "s", &error);
        ck_assert(event_log_try_publish(log_, step));
    }
    publish("run0", EVENT_EPOCH, "last");
    assert_reads("run0", &cursor, 64, "firstlast");
    assert_reads("run0", &cursor, 64, "");
}
END_TEST

START_TEST(large_events_leave_memory_early) {
    enum { SIZE = 1024 * 1024 };
    char *payload = malloc(SIZE + 1);
    memset(payload, 'x', SIZE);
    payload[SIZE] = '\0';
    uint64_t cursor = 0;
    publish("run1", EVENT_STATE, "first");
    for (int i = 0; i < 20; i++) {
        struct event *step = event_create("run0", EVENT_STEP, payload, &error);
        ck_assert(event_log_try_publish(log_, step));
    }
    struct event *events[64];
    size_t count = 0;
    ck_assert(event_log_read(log_, "run0", &cursor, 64, events, &count, &error));
    ck_assert_uint_ge(count, 7);
    ck_assert_uint_le(count, 8); /* 8 MiB */
    while (count > 0)
        event_release(events[--count]);
    cursor = 0;
    assert_reads("run1", &cursor, 64, "first");
    free(payload);
}
END_TEST

START_TEST(an_ended_runs_events_are_made_from_the_run) {
    enum run_state state = RUN_SUCCEEDED;
    uint64_t cursor = 0;
    struct event *event = event_create("run0", EVENT_END, "ignored", &error);
    event->of_ended_run = true;
    ck_assert(event_log_publish(log_, &event, 1, commit, &state, &error));
    reopen();
    struct event *events[4];
    size_t count = 0;
    ck_assert(event_log_read(log_, "run0", &cursor, 4, events, &count, &error));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(events[0]->kind, EVENT_END);
    ck_assert_ptr_nonnull(strstr(events[0]->payload, "\"state\":\"succeeded\""));
    event_release(events[0]);
}
END_TEST

enum { THREADS = 4, EVENTS_A_THREAD = 200 };

static _Atomic int notified;

static void count_notifications(void *owner, const struct event *event) {
    (void)owner;
    if (event->kind == EVENT_EPOCH)
        atomic_fetch_add(&notified, 1);
}

static void *publish_many(void *argument) {
    const char *run_id = argument;
    char payload[32];
    for (int i = 0; i < EVENTS_A_THREAD; i++) {
        snprintf(payload, sizeof payload, "%d", i);
        enum run_state state = RUN_RUNNING;
        struct event *event = event_create(run_id, EVENT_EPOCH, payload, NULL);
        if (!event_log_publish(log_, &event, 1, commit, &state, NULL))
            abort();
        struct event *step = event_create(run_id, EVENT_STEP, "s", NULL);
        event_log_try_publish(log_, step);
    }
    return NULL;
}

/* Reads all runs' events from the beginning until every epoch has come, once and in its run's order. */
static void *read_all(void *argument) {
    uint64_t cursor = 0;
    int next[THREADS] = {0}, seen = 0;
    while (seen < THREADS * EVENTS_A_THREAD) {
        struct event *events[16];
        size_t count = 0;
        if (!event_log_read(log_, NULL, &cursor, 16, events, &count, NULL))
            abort();
        for (size_t i = 0; i < count; i++) {
            if (events[i]->kind == EVENT_EPOCH) {
                int run = events[i]->run_id[3] - '0';
                if (atoi(events[i]->payload) != next[run]++)
                    *(bool *)argument = true;
                seen++;
            }
            event_release(events[i]);
        }
    }
    return NULL;
}

START_TEST(many_threads_publish_and_read) {
    pthread_t writers[THREADS], readers[3];
    bool disorder[3] = {false};
    char ids[THREADS][8];
    event_log_set_listener(log_, count_notifications, NULL);
    for (int i = 0; i < THREADS; i++) {
        snprintf(ids[i], sizeof ids[i], "run%d", i);
        pthread_create(&writers[i], NULL, publish_many, ids[i]);
    }
    for (int i = 0; i < 3; i++)
        pthread_create(&readers[i], NULL, read_all, &disorder[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(writers[i], NULL);
    for (int i = 0; i < 3; i++) {
        pthread_join(readers[i], NULL);
        ck_assert(!disorder[i]);
    }
    ck_assert_int_eq(atomic_load(&notified), THREADS * EVENTS_A_THREAD);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, readers_see_events_in_order);
    tcase_add_test(tests, uncommitted_events_are_not_shown);
    tcase_add_test(tests, the_log_settles_only_once_committed_events_are_shown);
    tcase_add_test(tests, a_later_process_continues_without_gap_or_repeat);
    tcase_add_test(tests, a_cursor_at_a_lost_step_still_works);
    tcase_add_test(tests, old_events_come_from_the_store);
    tcase_add_test(tests, large_events_leave_memory_early);
    tcase_add_test(tests, an_ended_runs_events_are_made_from_the_run);
    tcase_add_test(tests, many_threads_publish_and_read);
}
