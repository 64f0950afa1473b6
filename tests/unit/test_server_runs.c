/* The run manager: a run's life, cancelling, limits, comparisons, restarts, and what a full disk does. */
#include "core/tasks/dataset.h"
#include "server/runs.h"
#include "server/store_sqlite.h"
#include "tests/unit/server_fixture.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static struct store *store;
static struct event_log *log_;
static struct datasets *datasets;
static struct runs *runs;
static struct error error;

static void open_all(struct runs_options options, bool start) {
    options.find_experiment = counting_find;
    store = fixture_open_store();
    log_ = event_log_open(store, &error);
    datasets = datasets_open(store, fixture_directory, &error);
    runs = runs_open(&options, store, log_, datasets, &error);
    ck_assert_msg(runs != NULL, "%s", error.message);
    if (start)
        ck_assert(runs_start(runs, &error));
}

static void close_all(void) {
    runs_close(runs);
    datasets_close(datasets);
    event_log_close(log_);
    store->close(store);
}

static void setup(void) {
    error = (struct error){0};
    fixture_make_directory();
}

static void teardown(void) {
    fixture_remove_directory();
}

static bool create(const char *owner, const char *const *settings, char id[ID_SIZE]) {
    struct parameter_set parameters;
    struct run_record run;
    counting_prepare(&parameters, settings);
    struct run_request request = {&counting_experiment, &parameters, "a name", owner, 0};
    bool ok = runs_create(runs, &request, &run, &error);
    if (ok)
        memcpy(id, run.id, ID_SIZE);
    run_record_clear(&run);
    parameter_set_free(&parameters);
    return ok;
}

#define SETTINGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void create_run(const char *const *settings, char id[ID_SIZE]) {
    ck_assert_msg(create("", settings, id), "%s", error.message);
}

/* Waits until the run is in a state; fills in *run if it isn't NULL. */
static void wait_for_state(const char *id, bool (*is_reached)(enum run_state), struct run_record *run) {
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
        ck_assert_int_lt(waited, 20000);
        sleep_ms(1);
    }
}

static bool is_running(enum run_state state) {
    return state == RUN_RUNNING;
}

static void assert_ends(const char *id, enum run_state state) {
    struct run_record run;
    wait_for_state(id, run_state_has_ended, &run);
    ck_assert_msg(run.state == state, "%s: %s", run_state_name(run.state), run.error);
    run_record_clear(&run);
}

/* The kinds of an ended run's events without steps, one letter each. The end is shown a moment after it can
 * be seen in the run. */
static void event_kinds(const char *id, char kinds[256]) {
    uint64_t cursor = 0;
    size_t length = 0;
    for (int waited = 0; length == 0 || kinds[length - 1] != '.'; waited++) {
        struct event *events[200];
        size_t count = 0;
        ck_assert_int_lt(waited, 20000);
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
    char *json = run_to_json(&run, NULL, &error);
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
    struct event *events[200];
    size_t count = 0, steps = 0;
    uint64_t cursor = 0;
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(SETTINGS("epochs=1", "steps=250", "pause_ms=1"), id);
    assert_ends(id, RUN_SUCCEEDED);
    ck_assert(event_log_read(log_, id, &cursor, 200, events, &count, &error));
    const char *last = NULL;
    for (size_t i = 0; i < count; i++)
        if (events[i]->kind == EVENT_STEP) {
            steps++;
            last = events[i]->payload;
        }
    ck_assert_uint_ge(steps, 3);
    ck_assert_uint_le(steps, 40); /* 20 a second, on a machine that may be eight times slower */
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
    create_run(SETTINGS("epochs=1000", "pause_ms=1"), first);
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
    create_run(SETTINGS("epochs=1", "steps=1000000", "pause_ms=1"), id);
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
    ck_assert_uint_eq(counts.queued, 3);
    close_all();
}
END_TEST

START_TEST(listings_show_live_progress) {
    char id[ID_SIZE];
    struct run_filter filter = {.state = -1, .limit = 10};
    struct run_record *list = NULL;
    size_t count = 0, done = 0;
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(SETTINGS("epochs=1000", "steps=1", "pause_ms=1"), id);
    for (int waited = 0; done < 5 && waited < 10000; waited++) {
        ck_assert(runs_list(runs, &filter, &list, &count, &error));
        ck_assert_uint_eq(count, 1);
        done = list[0].progress_done;
        run_record_clear(&list[0]);
        free(list);
        sleep_ms(1);
    }
    ck_assert_uint_ge(done, 5);
    close_all();
}
END_TEST

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

/* Every epoch of a run is in its metrics and its events once. */
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

START_TEST(an_interrupted_run_goes_on) {
    char id[ID_SIZE], waiting[ID_SIZE], whole[ID_SIZE];
    struct runs_counts counts;
    open_all((struct runs_options){.worker_count = 1}, true);
    create_run(SETTINGS("epochs=60", "steps=5", "pause_ms=1", "seed=3"), id);
    create_run(SETTINGS("epochs=60", "steps=5", "seed=3"), waiting);
    wait_for_state(id, is_running, NULL);
    sleep_ms(30);
    close_all();
    open_all((struct runs_options){.worker_count = 2}, false);
    runs_count(runs, &counts);
    ck_assert_uint_eq(counts.queued, 2);
    ck_assert(runs_start(runs, &error));
    create_run(SETTINGS("epochs=60", "steps=5", "seed=3"), whole);
    assert_ends(id, RUN_SUCCEEDED);
    assert_ends(waiting, RUN_SUCCEEDED);
    assert_ends(whole, RUN_SUCCEEDED);
    ck_assert_double_eq(last_weights(id), last_weights(whole));
    ck_assert_double_eq(last_weights(waiting), last_weights(whole));
    assert_whole(id, 60);
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

START_TEST(a_comparison_makes_a_table) {
    enum { VARIANTS = 2, SEEDS = 3 };
    const char *const labels[VARIANTS] = {"one", "two \"quoted\""};
    const int64_t seeds[SEEDS] = {0, 1, 2};
    struct parameter_set parameters[VARIANTS * SEEDS];
    for (int i = 0; i < VARIANTS * SEEDS; i++) {
        char seed[32];
        snprintf(seed, sizeof seed, "seed=%d", i % SEEDS);
        counting_prepare(&parameters[i], SETTINGS(seed));
    }
    struct comparison_request request = {&counting_experiment, "",      labels, VARIANTS, seeds, SEEDS,
                                         parameters,           "owner", 0};
    struct comparison_view view, *list = NULL;
    size_t count = 0;
    char id[ID_SIZE];
    open_all((struct runs_options){.worker_count = 2}, false);
    ck_assert_msg(runs_create_comparison(runs, &request, &view, &error), "%s", error.message);
    memcpy(id, view.record.id, ID_SIZE);
    ck_assert_int_eq(view.state, RUN_QUEUED);
    ck_assert(isnan(view.rows[0].accuracies[0]) && isnan(view.rows[1].mean));
    comparison_view_clear(&view);
    ck_assert(!runs_delete_comparison(runs, id, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    error = (struct error){0};
    ck_assert(runs_start(runs, &error));
    for (int waited = 0; waited < 10000; waited++) {
        ck_assert(runs_find_comparison(runs, id, &view, &error));
        if (run_state_has_ended(view.state))
            break;
        comparison_view_clear(&view);
        sleep_ms(1);
    }
    ck_assert_int_eq(view.state, RUN_SUCCEEDED);
    ck_assert_uint_eq(view.progress_done, VARIANTS * SEEDS);
    ck_assert_str_eq(view.rows[1].label, "two \"quoted\"");
    const struct comparison_row *row = &view.rows[0];
    double sum = row->accuracies[0] + row->accuracies[1] + row->accuracies[2];
    ck_assert_double_eq_tol(row->mean, sum / 3, 1e-12);
    ck_assert_double_eq(row->worst, fmin(row->accuracies[0], fmin(row->accuracies[1], row->accuracies[2])));
    ck_assert_int_eq(row->parameter_count, COUNTING_WEIGHTS);
    ck_assert_double_eq(row->seconds, 1.5);
    struct text json = {0};
    comparison_write_json(&json, NULL, &view, false);
    json_t *object = json_loads(json.bytes, 0, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "runs")), VARIANTS * SEEDS);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "rows")), VARIANTS);
    json_decref(object);
    text_free(&json);
    comparison_view_clear(&view);
    ck_assert(!runs_cancel_comparison(runs, id, NULL, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    error = (struct error){0};
    ck_assert(runs_list_comparisons(runs, NULL, 10, &list, &count, &error));
    ck_assert_uint_eq(count, 1);
    comparison_view_clear(&list[0]);
    free(list);
    ck_assert(runs_delete_comparison(runs, id, &error));
    ck_assert(!runs_find_comparison(runs, id, &view, &error));
    for (int i = 0; i < VARIANTS * SEEDS; i++)
        parameter_set_free(&parameters[i]);
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
    create_run(SETTINGS("epochs=1000", "steps=1", "pause_ms=1"), id);
    wait_for_state(id, is_running, NULL);
    limit_pages("1");
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
        struct run_request request = {&counting_experiment, &parameters, "", name, 0};
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

/* A process of its own that goes on with what it finds; with `create_first` it first creates runs and says
 * their ids on `pipe`, each only once it is acknowledged. */
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

/* Starts such a process and kills it after `milliseconds`; collects the ids it acknowledged. */
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

START_TEST(killed_at_any_instant_nothing_acknowledged_is_lost) {
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

START_TEST(data_sets_are_parsed_once_and_shared) {
    struct dataset_record record;
    open_all((struct runs_options){.worker_count = 1}, false);
    const char text[] = "text,label\ngood,1\nbad,0\n";
    ck_assert_msg(datasets_add(datasets, "mine", "csv", text, sizeof text - 1, "", &record, &error), "%s",
                  error.message);
    ck_assert_uint_eq(record.row_count, 2);
    ck_assert_uint_eq(record.class_count, 2);
    ck_assert_uint_eq(record.word_count, 2);
    dataset_record_clear(&record);
    struct data_source source = datasets_source(datasets);
    const struct dataset *first = source.find_dataset(source.owner, "mine", &error);
    const struct dataset *second = source.find_dataset(source.owner, "mine", &error);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_eq(first, second);
    ck_assert(datasets_delete(datasets, "mine", &error));
    ck_assert_uint_eq(first->row_count, 2);
    source.release_dataset(source.owner, first);
    source.release_dataset(source.owner, second);
    ck_assert_ptr_null(source.find_dataset(source.owner, "mine", &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    close_all();
}
END_TEST

START_TEST(files_have_plain_names) {
    static const char *const bad[] = {"../secret", "/etc/passwd", ".hidden", "", "attnlab.sqlite3", ".."};
    char path[128];
    void *bytes = NULL;
    size_t size = 0;
    open_all((struct runs_options){.worker_count = 1}, false);
    struct data_source source = datasets_source(datasets);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        error = (struct error){0};
        ck_assert(!source.read_file(source.owner, bad[i], &bytes, &size, &error));
        ck_assert_int_eq(error.code, ERROR_INVALID);
    }
    error = (struct error){0};
    ck_assert(!source.read_file(source.owner, "images.gz", &bytes, &size, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    snprintf(path, sizeof path, "%s/images.gz", fixture_directory);
    FILE *file = fopen(path, "w");
    fputs("abc", file);
    fclose(file);
    ck_assert(source.read_file(source.owner, "images.gz", &bytes, &size, &error));
    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(bytes, "abc", 3);
    free(bytes);
    close_all();
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("runs");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_run_succeeds);
    tcase_add_test(tests, a_recurrent_model_has_no_attention_events);
    tcase_add_test(tests, a_run_fails_with_its_reason);
    tcase_add_test(tests, steps_are_throttled_and_the_last_is_shown);
    tcase_add_test(tests, a_waiting_run_is_cancelled_at_once);
    tcase_add_test(tests, a_running_run_is_cancelled_within_a_step);
    tcase_add_test(tests, a_full_queue_refuses);
    tcase_add_test(tests, listings_show_live_progress);
    tcase_add_test(tests, an_interrupted_run_goes_on);
    tcase_add_test(tests, a_run_of_an_unknown_experiment_fails);
    tcase_add_test(tests, a_comparison_makes_a_table);
    tcase_add_test(tests, a_full_disk_fails_the_run_and_nothing_else);
    tcase_add_test(tests, a_crowd_starts_runs_and_none_is_lost);
    tcase_add_loop_test(tests, killed_at_any_instant_nothing_acknowledged_is_lost, 0, 4);
    tcase_add_test(tests, data_sets_are_parsed_once_and_shared);
    tcase_add_test(tests, files_have_plain_names);
    Suite *suite = suite_create("runs");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
