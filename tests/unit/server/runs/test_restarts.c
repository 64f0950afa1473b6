/* Runs when the process ends, is killed, or fills the disk. */
#include "server/store/sqlite_connection.h"
#include "tests/unit/main.h"
#include "tests/unit/server/runs/runs_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* The last weights of a run, mixed into one number. */
static double last_weights(const char *id) {
    float *weights = NULL;
    size_t found = 0, count = 0;
    double sum = 0;
    ck_assert(store->read_weights(store, id, STORE_LAST_EPOCH, &found, &weights, &count, &error));
    for (size_t i = 0; i < count; i++)
        sum = sum * 1.000001 + weights[i];
    free(weights);
    return sum;
}

static size_t count_rows(const char *id) {
    struct epoch_metrics *rows = NULL;
    size_t count = 0;
    ck_assert(store->read_metrics(store, id, &rows, &count, &error));
    free(rows);
    return count;
}

/* Every epoch of a run is in its metrics once and in its events once. */
static void assert_whole(const char *id, size_t epochs) {
    struct epoch_metrics *rows = NULL;
    struct event_record *events = NULL;
    size_t count = 0, seen = 0, ends = 0;
    ck_assert(store->read_metrics(store, id, &rows, &count, &error));
    ck_assert_uint_eq(count, epochs + 1);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(rows[i].epoch, i);
    free(rows);
    ck_assert(store->read_events(store, id, 0, UINT64_MAX >> 1, 100000, &events, &count, &error));
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind == EVENT_EPOCH) {
            char expected[32];
            snprintf(expected, sizeof expected, "\"epoch\":%zu,", seen++);
            ck_assert_ptr_nonnull(strstr(events[i].payload, expected));
        }
        ends += events[i].kind == EVENT_END;
        free(events[i].payload);
    }
    free(events);
    ck_assert_uint_eq(seen, epochs + 1);
    ck_assert_uint_eq(ends, 1);
}

START_TEST(an_interrupted_run_resumes) {
    char id[ID_SIZE], waiting[ID_SIZE], whole[ID_SIZE];
    struct run_record before, after;
    struct runs_counts counts;
    open_all((struct runs_options){.worker_count = 1}, true);
    atomic_store(&counting_hold_epoch, 30);
    create_run(SETTINGS("epochs=60", "steps=5", "pause_ms=1", "seed=3"), id);
    create_run(SETTINGS("epochs=60", "steps=5", "seed=3"), waiting);
    wait_for_state(id, is_running, &before);
    while (count_rows(id) < 5)
        sleep_ms(1);
    close_all();
    atomic_store(&counting_hold_epoch, UINT64_MAX);
    open_all((struct runs_options){.worker_count = 2}, false);
    runs_count(runs, &counts);
    ck_assert_uint_eq(counts.by_state[RUN_QUEUED], 2);
    ck_assert(runs_start(runs, &error));
    create_run(SETTINGS("epochs=60", "steps=5", "seed=3"), whole);
    assert_ends(id, RUN_SUCCEEDED);
    assert_ends(waiting, RUN_SUCCEEDED);
    assert_ends(whole, RUN_SUCCEEDED);
    ck_assert_double_eq(last_weights(id), last_weights(whole));
    ck_assert_double_eq(last_weights(waiting), last_weights(whole));
    assert_whole(id, 60);
    ck_assert(runs_find(runs, id, &after, &error));
    ck_assert_int_eq(after.started_ms, before.started_ms);
    run_record_clear(&before);
    run_record_clear(&after);
    close_all();
}
END_TEST

START_TEST(a_run_of_an_unknown_experiment_fails) {
    struct run_record run = {.id = "stray",
                             .experiment = "alchemy",
                             .name = "",
                             .parameters_json = "{}",
                             .owner = "",
                             .progress_unit = ""};
    store = fixture_open_store();
    ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    store->close(store);
    open_all((struct runs_options){.worker_count = 1}, false);
    ck_assert(runs_find(runs, "stray", &run, &error));
    ck_assert_int_eq(run.state, RUN_FAILED);
    ck_assert_ptr_nonnull(strstr(run.error, "no experiment alchemy"));
    run_record_clear(&run);
    close_all();
}
END_TEST

/* Runs in a child process, which resumes the runs that it finds. With `create_first` it first creates runs,
 * and writes each id to `pipe` once the run is acknowledged. */
static void live(bool create_first, int pipe_end) {
    open_all((struct runs_options){.worker_count = 2}, true);
    for (int i = 0; create_first && i < 4; i++) {
        char id[ID_SIZE], seed[16];
        snprintf(seed, sizeof seed, "seed=%d", i);
        create_run(SETTINGS("epochs=40", "steps=3", "pause_ms=1", seed), id);
        if (write(pipe_end, id, ID_SIZE) != ID_SIZE)
            abort();
    }
    for (;;)
        pause();
}

/* Starts such a process and kills it after `milliseconds`; collects the ids that it acknowledged. */
static void live_and_die(bool create_first, long milliseconds, char ids[4][ID_SIZE], size_t *count) {
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        live(create_first, ends[1]);
    close(ends[1]);
    sleep_ms(milliseconds);
    kill(child, SIGKILL);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    while (create_first && *count < 4 && read(ends[0], ids[*count], ID_SIZE) == ID_SIZE)
        ++*count;
    close(ends[0]);
}

START_TEST(a_kill_at_any_instant_loses_nothing_acknowledged) {
    char ids[4][ID_SIZE], whole[ID_SIZE];
    size_t count = 0;
    srand((unsigned)time(NULL));
    live_and_die(true, 20 + rand() % 150, ids, &count);
    for (int i = 0; i < 4; i++)
        live_and_die(false, 5 + rand() % 100, ids, &count);
    open_all((struct runs_options){.worker_count = 2}, true);
    for (size_t i = 0; i < count; i++) {
        char seed[32];
        snprintf(seed, sizeof seed, "seed=%zu", i);
        assert_ends(ids[i], RUN_SUCCEEDED);
        assert_whole(ids[i], 40);
        create_run(SETTINGS("epochs=40", "steps=3", seed), whole);
        assert_ends(whole, RUN_SUCCEEDED);
        ck_assert_double_eq(last_weights(ids[i]), last_weights(whole));
    }
    close_all();
}
END_TEST

static bool is_queued(enum run_state state) {
    return state == RUN_QUEUED;
}

static bool has_begun(enum run_state state) {
    return state != RUN_QUEUED;
}

/* Every start counts, or, as in the daemon, only starts that are half a minute apart. */
enum { AT_ONCE = 1, AS_EVER = 0 };
static int64_t attempt_spacing_ms;

/* Opens everything and waits until the run has begun and has at least `rows` rows of metrics. */
static void open_and_wait(const char *id, size_t rows) {
    open_all((struct runs_options){.worker_count = 1, .attempt_spacing_ms = attempt_spacing_ms}, true);
    wait_for_state(id, has_begun, NULL);
    while (count_rows(id) < rows)
        sleep_ms(1);
}

/* Does the same in a child process, which is then killed. */
static void begin_and_die(const char *id, size_t rows) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        open_and_wait(id, rows);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void create_and_close(const char *const *settings, char id[ID_SIZE]) {
    open_all((struct runs_options){.worker_count = 1}, false);
    create_run(settings, id);
    close_all();
}

enum { KILLS = 5 }; /* after this many the run fails */

START_TEST(a_run_that_kills_the_process_each_time_fails) {
    char id[ID_SIZE], other[ID_SIZE];
    struct run_record run;
    attempt_spacing_ms = AT_ONCE;
    create_and_close(SETTINGS("epochs=2", "steps=1000000", "pause_ms=1"), id);
    begin_and_die(id, 1); /* dies after row 0, which counts as progress */
    for (int kill = 0; kill < KILLS - 1; kill++)
        begin_and_die(id, 1);
    open_all((struct runs_options){.worker_count = 1}, false);
    wait_for_state(id, is_queued, NULL);
    close_all();
    begin_and_die(id, 1);
    open_all((struct runs_options){.worker_count = 1}, true);
    ck_assert(runs_find(runs, id, &run, &error));
    ck_assert_int_eq(run.state, RUN_FAILED);
    ck_assert_ptr_nonnull(strstr(run.error, "times while it worked on this run"));
    run_record_clear(&run);
    create_run(SETTINGS("epochs=2"), other);
    assert_ends(other, RUN_SUCCEEDED);
    close_all();
}
END_TEST

static void open_two_workers(void) {
    open_all((struct runs_options){.worker_count = 2, .attempt_spacing_ms = attempt_spacing_ms}, true);
}

static enum run_state find_state(const char *id) {
    struct run_record run;
    ck_assert(runs_find(runs, id, &run, &error));
    enum run_state state = run.state;
    run_record_clear(&run);
    return state;
}

/* Runs a process that dies once `cause` is running. `beside` must then run too if `runs_beside`, and must not
 * if not. */
static void die_with(const char *cause, const char *beside, bool runs_beside) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        open_two_workers();
        wait_for_state(cause, has_begun, NULL);
        if (runs_beside)
            wait_for_state(beside, has_begun, NULL);
        while (count_rows(cause) < 1 || count_rows(beside) < 1)
            sleep_ms(1);
        sleep_ms(20);
        ck_assert_int_eq(find_state(beside), runs_beside ? RUN_RUNNING : RUN_QUEUED);
        raise(SIGKILL);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Creates two runs with these settings and kills the process three times while both run. The first time they
 * have just made progress, with row 0; as neither ends epoch 1, the other two kills make both suspects. */
static void make_suspects(const char *const *settings, char first[ID_SIZE], char second[ID_SIZE]) {
    create_and_close(settings, first);
    create_and_close(settings, second);
    attempt_spacing_ms = AT_ONCE;
    atomic_store(&counting_hold_epoch, 0);
    for (int kill = 0; kill < 3; kill++)
        die_with(first, second, true);
    atomic_store(&counting_hold_epoch, UINT64_MAX);
}

START_TEST(of_two_suspects_only_the_cause_is_blamed) {
    char cause[ID_SIZE], beside[ID_SIZE], next[ID_SIZE];
    make_suspects(SETTINGS("epochs=2", "steps=1000000", "pause_ms=1"), cause, beside);
    for (int kill = 2; kill < KILLS; kill++)
        die_with(cause, beside, false);
    open_two_workers();
    ck_assert_int_eq(find_state(cause), RUN_FAILED);
    wait_for_state(beside, is_running, NULL);
    create_run(SETTINGS("epochs=1"), next);
    sleep_ms(20);
    ck_assert_int_eq(find_state(next), RUN_QUEUED);
    ck_assert(runs_cancel(runs, beside, NULL, &error));
    assert_ends(next, RUN_SUCCEEDED);
    close_all();
}
END_TEST

START_TEST(suspects_that_make_progress_run_like_others) {
    char ids[4][ID_SIZE];
    make_suspects(SETTINGS("epochs=3", "steps=300", "pause_ms=1"), ids[0], ids[1]);
    open_two_workers();
    create_run(SETTINGS("epochs=1"), ids[2]);
    create_run(SETTINGS("epochs=1"), ids[3]);
    for (int i = 0; i < 4; i++)
        assert_ends(ids[i], RUN_SUCCEEDED);
    assert_whole(ids[0], 3);
    assert_whole(ids[1], 3);
    close_all();
}
END_TEST

START_TEST(a_suspect_may_be_cancelled_before_its_trial) {
    char ids[3][ID_SIZE];
    make_suspects(SETTINGS("epochs=2", "steps=1000000", "pause_ms=1"), ids[0], ids[1]);
    open_two_workers();
    ck_assert(runs_cancel(runs, ids[1], NULL, &error));
    ck_assert(runs_cancel(runs, ids[0], NULL, &error));
    create_run(SETTINGS("epochs=1"), ids[2]);
    assert_ends(ids[2], RUN_SUCCEEDED);
    close_all();
}
END_TEST

START_TEST(a_run_is_not_blamed_for_kills_in_quick_succession) {
    char id[ID_SIZE];
    attempt_spacing_ms = AS_EVER;
    create_and_close(SETTINGS("epochs=1", "steps=300", "pause_ms=1"), id);
    for (int kill = 0; kill < 3 * KILLS; kill++)
        begin_and_die(id, 1);
    open_all((struct runs_options){.worker_count = 1}, true);
    assert_ends(id, RUN_SUCCEEDED);
    assert_whole(id, 1);
    close_all();
}
END_TEST

START_TEST(a_run_that_makes_progress_may_be_killed_any_number_of_times) {
    char id[ID_SIZE];
    attempt_spacing_ms = AT_ONCE;
    create_and_close(SETTINGS("epochs=200", "steps=3", "pause_ms=1"), id);
    for (size_t kill = 1; kill <= 3 * KILLS; kill++)
        begin_and_die(id, 2 * kill);
    open_all((struct runs_options){.worker_count = 1}, true);
    assert_ends(id, RUN_SUCCEEDED);
    assert_whole(id, 200);
    close_all();
}
END_TEST

START_TEST(a_clean_shutdown_is_not_held_against_a_run) {
    char id[ID_SIZE];
    attempt_spacing_ms = AT_ONCE;
    create_and_close(SETTINGS("epochs=2", "steps=1000000", "pause_ms=1"), id);
    for (int end = 0; end < 3 * KILLS; end++) {
        open_and_wait(id, 1);
        close_all();
    }
    open_all((struct runs_options){.worker_count = 1}, false);
    wait_for_state(id, is_queued, NULL);
    close_all();
}
END_TEST

static void limit_pages(const char *pages) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA max_page_count = %s", pages);
    struct connection *writer = &sqlite_store_of(store)->writer;
    pthread_mutex_lock(&writer->mutex);
    sqlite3_exec(writer->database, pragma, NULL, NULL, NULL);
    pthread_mutex_unlock(&writer->mutex);
}

START_TEST(a_full_disk_fails_the_run_and_nothing_else) {
    char id[ID_SIZE], next[ID_SIZE];
    struct run_record run;
    open_all((struct runs_options){.worker_count = 1}, true);
    atomic_store(&counting_hold_epoch, 1);
    create_run(SETTINGS("epochs=1000", "steps=1"), id);
    wait_for_state(id, is_running, NULL);
    limit_pages("1");
    atomic_store(&counting_hold_epoch, UINT64_MAX);
    wait_for_state(id, run_state_has_ended, &run);
    ck_assert_int_eq(run.state, RUN_FAILED);
    ck_assert_str_eq(run.error, "the disk with the data directory is full");
    run_record_clear(&run);
    limit_pages("1000000");
    create_run(SETTINGS("epochs=1"), next);
    assert_ends(next, RUN_SUCCEEDED);
    close_all();
    open_all((struct runs_options){.worker_count = 1}, false);
    assert_ends(id, RUN_FAILED);
    close_all();
}
END_TEST

static bool refuse_update(struct store *self, const struct run_record *run, bool acknowledged,
                          const struct event_record *events, size_t event_count, struct error *failure) {
    (void)self, (void)run, (void)acknowledged, (void)events, (void)event_count;
    return error_set(failure, ERROR_UNAVAILABLE, "the disk is full");
}

/* A stream relies on this: if the run is seen to have ended and the log is settled, the end can be read. */
START_TEST(an_end_that_cannot_be_stored_is_published_once_it_is_seen) {
    open_all((struct runs_options){.worker_count = 1}, true);
    store->update_run = refuse_update;
    for (int i = 0; i < 100; i++) {
        char id[ID_SIZE];
        struct event *events[8];
        uint64_t cursor = 0;
        size_t count = 0;
        bool has_ended = false;
        create_run(SETTINGS("epochs=1"), id);
        do
            ck_assert(runs_find_ended(runs, id, &has_ended, &error));
        while (!has_ended || !event_log_is_settled(log_));
        ck_assert(event_log_read(log_, id, &cursor, 8, events, &count, &error));
        ck_assert_uint_eq(count, 3);
        ck_assert_int_eq(events[2]->kind, EVENT_END);
        ck_assert_ptr_nonnull(strstr(events[2]->payload, "\"state\":\"failed\""));
        for (size_t j = 0; j < count; j++)
            event_release(events[j]);
        ck_assert(
            !runs_cancel(runs, id, NULL, &error)); /* it has ended, though the store has no record of that */
        ck_assert_int_eq(error.code, ERROR_CONFLICT);
        error = (struct error){0};
    }
    close_all();
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, an_interrupted_run_resumes);
    tcase_add_test(tests, a_run_of_an_unknown_experiment_fails);
    tcase_add_loop_test(tests, a_kill_at_any_instant_loses_nothing_acknowledged, 0, 4);
    tcase_add_test(tests, a_run_that_kills_the_process_each_time_fails);
    tcase_add_test(tests, of_two_suspects_only_the_cause_is_blamed);
    tcase_add_test(tests, suspects_that_make_progress_run_like_others);
    tcase_add_test(tests, a_suspect_may_be_cancelled_before_its_trial);
    tcase_add_test(tests, a_run_is_not_blamed_for_kills_in_quick_succession);
    tcase_add_test(tests, a_run_that_makes_progress_may_be_killed_any_number_of_times);
    tcase_add_test(tests, a_clean_shutdown_is_not_held_against_a_run);
    tcase_add_test(tests, a_full_disk_fails_the_run_and_nothing_else);
    tcase_add_test(tests, an_end_that_cannot_be_stored_is_published_once_it_is_seen);
}
