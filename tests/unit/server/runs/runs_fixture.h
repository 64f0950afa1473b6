/* A run manager with its store, event log and data sets, in a private data directory. */
#ifndef ATTNLAB_TESTS_UNIT_SERVER_RUNS_RUNS_FIXTURE_H
#define ATTNLAB_TESTS_UNIT_SERVER_RUNS_RUNS_FIXTURE_H

#include "server/runs/json.h"
#include "tests/unit/server/server_fixture.h"

static struct store *store;
static struct event_log *log_;
static struct datasets *datasets;
static struct runs *runs;
static struct error error;

static inline void open_all(struct runs_options options, bool start) {
    options.find_experiment = counting_find;
    store = fixture_open_store();
    log_ = event_log_open(store, run_to_brief_json, &error);
    datasets = datasets_open(store, fixture_directory, &error);
    runs = runs_open(&options, store, log_, datasets, &error);
    ck_assert_msg(runs != NULL, "%s", error.message);
    if (start)
        ck_assert(runs_start(runs, &error));
}

static inline void close_all(void) {
    runs_close(runs);
    datasets_close(datasets);
    event_log_close(log_);
    store->close(store);
}

static inline void setup(void) {
    error = (struct error){0};
    atomic_store(&counting_hold_epoch, UINT64_MAX);
    fixture_make_directory();
}

static inline void teardown(void) {
    fixture_remove_directory();
}

static inline bool create(const char *owner, const char *const *settings, char id[ID_SIZE]) {
    struct parameter_set parameters;
    struct run_record run;
    counting_prepare(&parameters, settings);
    struct run_request request = {
        .experiment = &counting_experiment, .parameters = &parameters, .name = "a name", .owner = owner};
    bool ok = runs_create(runs, &request, &run, &error);
    if (ok)
        memcpy(id, run.id, ID_SIZE);
    run_record_clear(&run);
    parameter_set_free(&parameters);
    return ok;
}

enum { WAIT_MS = 100000 }; /* only to end a test whose condition never comes true */

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static inline void create_run(const char *const *settings, char id[ID_SIZE]) {
    ck_assert_msg(create("", settings, id), "%s", error.message);
}

/* Waits until the run's state satisfies `is_reached`; fills in *run if it isn't NULL. */
static inline void wait_for_state(const char *id, bool (*is_reached)(enum run_state),
                                  struct run_record *run) {
    for (int waited = 0;; waited++) {
        struct run_record found;
        ck_assert_msg(runs_find(runs, id, &found, &error), "%s", error.message);
        if (is_reached(found.state)) {
            if (run != NULL)
                *run = found;
            else
                run_record_clear(&found);
            return;
        }
        run_record_clear(&found);
        ck_assert_int_lt(waited, WAIT_MS);
        sleep_ms(1);
    }
}

static inline bool is_running(enum run_state state) {
    return state == RUN_RUNNING;
}

static inline void assert_ends(const char *id, enum run_state state) {
    struct run_record run;
    wait_for_state(id, run_state_has_ended, &run);
    ck_assert_msg(run.state == state, "%s: %s", run_state_name(run.state), run.error);
    run_record_clear(&run);
}

/* The kinds of an ended run's events, without steps, one letter each. Waits for the end event, which appears
 * shortly after the run's state has changed. */
static inline void event_kinds(const char *id, char kinds[256]) {
    uint64_t cursor = 0;
    size_t length = 0;
    for (int waited = 0; length == 0 || kinds[length - 1] != '.'; waited++) {
        struct event *events[200];
        size_t count = 0;
        ck_assert_int_lt(waited, WAIT_MS);
        ck_assert(event_log_read(log_, id, &cursor, 200, events, &count, &error));
        for (size_t i = 0; i < count; i++) {
            if (events[i]->kind != EVENT_STEP)
                kinds[length++] = events[i]->kind == EVENT_END ? '.' : event_kind_name(events[i]->kind)[0];
            event_release(events[i]);
        }
        if (count == 0)
            sleep_ms(1);
    }
    kinds[length] = '\0';
}

#endif
