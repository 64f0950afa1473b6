/* The store: what is written is read back, changes are whole, damage and strangers are kept away. */
#include "server/store_sqlite.h"
#include "tests/unit/server_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct store *store;
static struct error error;

static void setup(void) {
    error = (struct error){0};
    fixture_make_directory();
    store = fixture_open_store();
}

static void teardown(void) {
    if (store != NULL)
        store->close(store);
    fixture_remove_directory();
}

static void reopen(void) {
    store->close(store);
    store = fixture_open_store();
}

/* A record that borrows its texts. */
static struct run_record example_run(const char *id) {
    struct run_record run = {.experiment = "train",
                             .name = "ünï \"quoted\"",
                             .parameters_json = "{\"seed\":1}",
                             .state = RUN_QUEUED,
                             .progress_unit = "epochs",
                             .created_ms = 1700000000123,
                             .owner = "somebody"};
    snprintf(run.id, sizeof run.id, "%s", id);
    return run;
}

static void add_run(const char *id) {
    struct run_record run = example_run(id);
    ck_assert_msg(store->add_runs(store, NULL, &run, 1, NULL, 0, &error), "%s", error.message);
}

static void save_epoch(const char *id, size_t number, size_t weight_count) {
    float *weights = calloc(weight_count, sizeof *weights);
    for (size_t i = 0; i < weight_count; i++)
        weights[i] = (float)number + (float)i / 1024;
    struct epoch_metrics metrics = {number, number == 0 ? NAN : 0.5, 0.75, 1.5};
    struct epoch_record epoch = {.metrics = &metrics,
                                 .weights = weights,
                                 .weight_count = weight_count,
                                 .checkpoint = &number,
                                 .checkpoint_size = sizeof number,
                                 .progress_done = number,
                                 .progress_total = 1000};
    ck_assert_msg(store->save_epoch(store, id, &epoch, NULL, 0, &error), "%s", error.message);
    free(weights);
}

START_TEST(runs_survive_reopening) {
    struct event_record event = {.id = 77, .kind = EVENT_STATE, .payload = "{}", .run_id = "a"};
    struct run_record run = example_run("a"), found;
    ck_assert(store->add_runs(store, NULL, &run, 1, &event, 1, &error));
    run.state = RUN_SUCCEEDED;
    run.progress_done = run.progress_total = 60;
    run.started_ms = 5;
    run.finished_ms = 6;
    run.result_json = "{\"test_accuracy\":1}";
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    reopen();
    ck_assert(store->find_run(store, "a", &found, &error));
    ck_assert_str_eq(found.id, "a");
    ck_assert_str_eq(found.experiment, "train");
    ck_assert_str_eq(found.name, "ünï \"quoted\"");
    ck_assert_str_eq(found.parameters_json, "{\"seed\":1}");
    ck_assert_str_eq(found.result_json, "{\"test_accuracy\":1}");
    ck_assert_str_eq(found.owner, "somebody");
    ck_assert_str_eq(found.progress_unit, "epochs");
    ck_assert_ptr_null(found.error);
    ck_assert_int_eq(found.state, RUN_SUCCEEDED);
    ck_assert_uint_eq(found.progress_done, 60);
    ck_assert_int_eq(found.created_ms, 1700000000123);
    ck_assert_int_eq(found.started_ms, 5);
    ck_assert_int_eq(found.finished_ms, 6);
    run_record_clear(&found);
}
END_TEST

static void database_path(char path[128]) {
    snprintf(path, 128, "%s/attnlab.sqlite3", fixture_directory);
}

/* A JSON text of so many bytes; release it with free(). */
static char *make_result(size_t size) {
    char *json = malloc(size + 1);
    ck_assert_ptr_nonnull(json);
    memset(json, '7', size);
    json[size] = '\0';
    return json;
}

static size_t count_rows(const char *table) {
    char path[128], query[64];
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    database_path(path);
    snprintf(query, sizeof query, "SELECT count(*) FROM %s", table);
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(database, query, -1, &statement, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    size_t count = (size_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

/* Finds the run, whose result is large or not, and reads that from where it has to be. */
static void assert_result(const char *id, const char *result_json, bool is_apart) {
    struct run_record found;
    char *apart = NULL;
    ck_assert(store->find_run(store, id, &found, &error));
    ck_assert_int_eq(run_record_lacks_result(&found), is_apart);
    ck_assert(store->read_result(store, id, &apart, &error));
    ck_assert_str_eq(is_apart ? apart : found.result_json, result_json);
    ck_assert(is_apart ? found.result_json == NULL : apart == NULL);
    free(apart);
    run_record_clear(&found);
}

START_TEST(large_results_are_kept_apart) {
    char *large = make_result(SMALL_RESULT_MAXIMUM + 1), *small = make_result(SMALL_RESULT_MAXIMUM);
    char *const results[] = {large, small};
    const char *const ids[] = {"a", "b"};
    for (size_t i = 0; i < 2; i++) {
        struct run_record run = example_run(ids[i]);
        ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
        run.state = RUN_SUCCEEDED;
        run.result_json = results[i];
        ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
        assert_result(ids[i], results[i], i == 0);
    }
    ck_assert_uint_eq(count_rows("results"), 1);
    ck_assert(store->delete_run(store, "a", &error));
    ck_assert_uint_eq(count_rows("results"), 0);
    free(large);
    free(small);
}
END_TEST

START_TEST(missing_runs_are_said_so) {
    struct run_record run = example_run("nobody");
    ck_assert(!store->find_run(store, "nobody", &run, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    error = (struct error){0};
    ck_assert(!store->delete_run(store, "nobody", &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    run = example_run("nobody");
    error = (struct error){0};
    ck_assert(!store->update_run(store, &run, false, NULL, 0, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
}
END_TEST

/* The ids of a listing, put together. */
static void assert_listing(struct run_filter filter, const char *expected) {
    struct run_record *runs = NULL;
    size_t count = 0;
    char ids[64] = "";
    ck_assert(store->list_runs(store, &filter, &runs, &count, &error));
    for (size_t i = 0; i < count; i++) {
        strcat(ids, runs[i].id);
        run_record_clear(&runs[i]);
    }
    free(runs);
    ck_assert_str_eq(ids, expected);
}

START_TEST(listings_filter_and_page) {
    const char *const ids[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++)
        add_run(ids[i]);
    struct run_record run = example_run("c");
    run.state = RUN_FAILED;
    run.error = "because";
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "dcba");
    assert_listing((struct run_filter){.state = -1, .limit = 2}, "dc");
    assert_listing((struct run_filter){.state = -1, .limit = 2, .before = "c"}, "ba");
    assert_listing((struct run_filter){.state = RUN_FAILED, .limit = 10}, "c");
    assert_listing((struct run_filter){.state = -1, .experiment = "cost", .limit = 10}, "");
    assert_listing((struct run_filter){.state = -1, .owner = "' OR 1=1 --", .limit = 10}, "");
}
END_TEST

START_TEST(adding_runs_is_all_or_nothing) {
    struct run_record runs[2] = {example_run("a"), example_run("a")}, found;
    ck_assert(!store->add_runs(store, NULL, runs, 2, NULL, 0, &error));
    error = (struct error){0};
    ck_assert(!store->find_run(store, "a", &found, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
}
END_TEST

START_TEST(an_epoch_is_all_or_nothing) {
    struct event_record event = {.id = 7, .kind = EVENT_EPOCH, .payload = "{}", .run_id = "a"};
    struct run_record run = example_run("a");
    struct epoch_metrics metrics = {1, 0.25, 0.5, 2}, *rows = NULL;
    float weights[2] = {1, 2}, *found_weights = NULL;
    struct epoch_record epoch = {.metrics = &metrics,
                                 .weights = weights,
                                 .weight_count = 2,
                                 .checkpoint = "new",
                                 .checkpoint_size = 3,
                                 .progress_done = 1,
                                 .progress_total = 2};
    void *checkpoint = NULL;
    size_t count = 0, found = 0;
    ck_assert(store->add_runs(store, NULL, &run, 1, &event, 1, &error));
    save_epoch("a", 0, 2);
    /* The last of what is written is refused: there is an event with this id. */
    ck_assert(!store->save_epoch(store, "a", &epoch, &event, 1, &error));
    error = (struct error){0};
    ck_assert(store->read_metrics(store, "a", &rows, &count, &error));
    ck_assert_uint_eq(count, 1);
    free(rows);
    ck_assert(store->read_weights(store, "a", STORE_LAST_EPOCH, &found, &found_weights, &count, &error));
    ck_assert_uint_eq(found, 0);
    free(found_weights);
    ck_assert(store->read_checkpoint(store, "a", &checkpoint, &count, &error));
    ck_assert_uint_eq(count, sizeof(size_t));
    free(checkpoint);
}
END_TEST

START_TEST(what_ran_goes_on_before_what_waited) {
    struct run_record run, *list = NULL;
    size_t count = 0;
    for (const char *id = "abcd"; *id != '\0'; id++)
        add_run((char[]){*id, '\0'});
    run = example_run("c");
    run.state = RUN_RUNNING;
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    run = example_run("a");
    run.state = RUN_FAILED;
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    ck_assert(store->list_unfinished_runs(store, &list, &count, &error));
    ck_assert_uint_eq(count, 3);
    static const char *const expected[] = {"c", "b", "d"};
    for (size_t i = 0; i < count; i++) {
        ck_assert_str_eq(list[i].id, expected[i]);
        run_record_clear(&list[i]);
    }
    free(list);
}
END_TEST

START_TEST(epochs_are_read_back) {
    add_run("a");
    for (size_t i = 0; i < 5; i++)
        save_epoch("a", i, 10);
    reopen();
    struct epoch_metrics *rows = NULL;
    float *weights = NULL;
    void *checkpoint = NULL;
    size_t count = 0, found = 0, size = 0;
    ck_assert(store->read_metrics(store, "a", &rows, &count, &error));
    ck_assert_uint_eq(count, 5);
    ck_assert(isnan(rows[0].train_loss));
    ck_assert_double_eq(rows[4].train_loss, 0.5);
    ck_assert_double_eq(rows[4].test_accuracy, 0.75);
    ck_assert_double_eq(rows[4].seconds, 1.5);
    ck_assert(store->read_weights(store, "a", 2, &found, &weights, &count, &error));
    ck_assert_uint_eq(count, 10);
    ck_assert_uint_eq(found, 2);
    ck_assert_float_eq(weights[9], 2 + 9.0f / 1024);
    free(weights);
    ck_assert(store->read_weights(store, "a", STORE_LAST_EPOCH, &found, &weights, &count, &error));
    ck_assert_uint_eq(found, 4);
    ck_assert(store->read_checkpoint(store, "a", &checkpoint, &size, &error));
    ck_assert_uint_eq(size, sizeof(size_t));
    ck_assert_uint_eq(*(size_t *)checkpoint, 4);
    free(rows);
    free(weights);
    free(checkpoint);
}
END_TEST

START_TEST(an_ended_run_has_no_checkpoint_and_a_deleted_one_nothing) {
    void *checkpoint = NULL;
    struct epoch_metrics *rows = NULL;
    size_t size = 0;
    add_run("a");
    save_epoch("a", 0, 10);
    struct run_record run = example_run("a");
    run.state = RUN_CANCELLED;
    ck_assert(store->update_run(store, &run, false, NULL, 0, &error));
    ck_assert(store->read_checkpoint(store, "a", &checkpoint, &size, &error));
    ck_assert_ptr_null(checkpoint);
    ck_assert(store->delete_run(store, "a", &error));
    ck_assert(store->read_metrics(store, "a", &rows, &size, &error));
    ck_assert_uint_eq(size, 0);
    ck_assert(store->list_epochs_kept(store, "a", (size_t **)&rows, &size, &error));
    ck_assert_uint_eq(size, 0);
}
END_TEST

static void assert_kept(size_t last, size_t weight_count, size_t limit) {
    size_t *epochs = NULL, count = 0;
    for (size_t i = 0; i <= last; i++)
        save_epoch("a", i, weight_count);
    ck_assert(store->list_epochs_kept(store, "a", &epochs, &count, &error));
    ck_assert_uint_le(count, limit);
    ck_assert_uint_gt(count, limit / 2);
    ck_assert_uint_eq(epochs[0], 0);
    ck_assert_uint_eq(epochs[count - 1], last);
    size_t stride = epochs[1];
    for (size_t i = 1; i + 1 < count; i++)
        ck_assert_uint_eq(epochs[i], i * stride);
    free(epochs);
}

START_TEST(the_middle_of_many_snapshots_is_thinned) {
    add_run("a");
    assert_kept(200, 10, 64);
}
END_TEST

/* After every epoch the first and the newest are there; up to 64 all of them. */
START_TEST(the_first_and_the_newest_snapshots_are_always_kept) {
    add_run("a");
    for (size_t epoch = 0; epoch < 140; epoch++) {
        size_t *epochs = NULL, count = 0;
        save_epoch("a", epoch, 1);
        ck_assert(store->list_epochs_kept(store, "a", &epochs, &count, &error));
        ck_assert_uint_eq(epochs[0], 0);
        ck_assert_uint_eq(epochs[count - 1], epoch);
        ck_assert(epoch < 64 ? count == epoch + 1 : count <= 64);
        free(epochs);
    }
}
END_TEST

START_TEST(large_snapshots_are_thinned_by_size) {
    add_run("a");
    assert_kept(20, 512 * 1024, 8); /* 2 MiB each */
}
END_TEST

START_TEST(a_comparison_is_deleted_with_its_runs) {
    struct comparison_record comparison = {.id = "k",
                                           .experiment = "train",
                                           .name = "",
                                           .labels_json = "[\"x\"]",
                                           .seeds_json = "[0]",
                                           .owner = ""},
                             found;
    struct run_record run = example_run("a"), missing;
    snprintf(run.comparison, sizeof run.comparison, "k");
    ck_assert(store->add_runs(store, &comparison, &run, 1, NULL, 0, &error));
    ck_assert(store->find_comparison(store, "k", &found, &error));
    ck_assert_str_eq(found.labels_json, "[\"x\"]");
    comparison_record_clear(&found);
    assert_listing((struct run_filter){.state = -1, .comparison = "k", .limit = 9}, "a");
    ck_assert(store->delete_comparison(store, "k", &error));
    ck_assert(!store->find_run(store, "a", &missing, &error));
}
END_TEST

START_TEST(events_are_read_in_pieces) {
    struct event_record events[3] = {{.id = 10, .run_id = "a", .kind = EVENT_STATE, .payload = "{}"},
                                     {.id = 11, .run_id = "b", .kind = EVENT_EPOCH, .payload = "{}"},
                                     {.id = 12, .run_id = "a", .kind = EVENT_END}};
    struct run_record runs[2] = {example_run("a"), example_run("b")};
    ck_assert(store->add_runs(store, NULL, runs, 2, events, 3, &error));
    struct event_record *found = NULL;
    size_t count = 0;
    ck_assert(store->read_events(store, NULL, 0, 12, 9, &found, &count, &error));
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(found[1].id, 11);
    ck_assert_int_eq(found[1].kind, EVENT_EPOCH);
    free(found[0].payload);
    free(found[1].payload);
    free(found);
    ck_assert(store->read_events(store, "a", 10, 99, 9, &found, &count, &error));
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(found[0].id, 12);
    ck_assert_ptr_null(found[0].payload);
    free(found);
}
END_TEST

START_TEST(data_sets_keep_their_bytes) {
    struct dataset_record dataset = {
        .name = "mine", .format = "csv", .row_count = 2, .size_bytes = 5, .is_text = true, .owner = ""};
    struct dataset_record found;
    void *bytes = NULL;
    size_t size = 0;
    ck_assert(store->add_dataset(store, &dataset, "a\0b\nc", &error));
    ck_assert(!store->add_dataset(store, &dataset, "other", &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    ck_assert(store->read_dataset(store, "mine", &found, &bytes, &size, &error));
    ck_assert_uint_eq(size, 5);
    ck_assert_mem_eq(bytes, "a\0b\nc", 5);
    ck_assert(found.is_text);
    free(bytes);
    dataset_record_clear(&found);
    ck_assert(store->delete_dataset(store, "mine", &error));
    error = (struct error){0};
    ck_assert(!store->delete_dataset(store, "mine", &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
}
END_TEST

START_TEST(the_cache_forgets_the_oldest) {
    size_t size = 30 * 1024 * 1024, found = 0;
    char *bytes = calloc(1, size);
    void *got = NULL;
    store->put_cache(store, "first", bytes, size);
    store->put_cache(store, "second", bytes, size);
    ck_assert(store->get_cache(store, "first", &got, &found));
    ck_assert_uint_eq(found, size);
    free(got);
    store->put_cache(store, "third", bytes, size);
    ck_assert(!store->get_cache(store, "first", &got, &found));
    ck_assert(store->get_cache(store, "third", &got, &found));
    free(got);
    free(bytes);
}
END_TEST

/* How often this process had something put on the disk: SQLite calls these. */
static int syncs;

int fsync(int file) {
    syncs++;
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    syncs++;
    return (int)syscall(SYS_fdatasync, file);
}

START_TEST(what_somebody_was_told_is_on_the_disk) {
    add_run("a");
    save_epoch("a", 0, 1); /* an epoch is not waited for */
    syncs = 0;
    save_epoch("a", 1, 1);
    ck_assert_int_eq(syncs, 0);
    add_run("b");
    ck_assert_int_gt(syncs, 0);
    save_epoch("a", 2, 1);
    struct run_record run = example_run("a");
    run.state = RUN_CANCELLED;
    syncs = 0;
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    ck_assert_int_gt(syncs, 0);
}
END_TEST

START_TEST(the_database_is_its_owners_alone) {
    char path[128];
    struct stat status;
    database_path(path);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
}
END_TEST

START_TEST(a_second_process_is_refused) {
    char warning[512];
    ck_assert_ptr_null(store_open_sqlite(fixture_directory, warning, sizeof warning, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(error.message, "in use by another attnlab"));
}
END_TEST

/* SQLite's locks are the process's: an open database must look used to others, or the log is taken from it.
 */
START_TEST(the_database_is_locked_while_it_is_open) {
    char path[128];
    snprintf(path, sizeof path, "%s/attnlab.sqlite3", fixture_directory);
    pid_t child = fork();
    if (child == 0) {
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open(path, O_RDWR | O_CLOEXEC);
        _exit(file >= 0 && fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? 0 : 1);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(generations_grow) {
    uint64_t first = store->generation(store);
    reopen();
    ck_assert_uint_eq(store->generation(store), first + 1);
}
END_TEST

static void execute_on_file(const char *statement) {
    char path[128];
    sqlite3 *database = NULL;
    database_path(path);
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(database, statement, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

START_TEST(a_newer_schema_is_refused_and_left_alone) {
    char warning[512];
    add_run("a");
    store->close(store);
    execute_on_file("PRAGMA user_version = 999");
    store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    ck_assert_ptr_null(store);
    ck_assert_ptr_nonnull(strstr(error.message, "newer attnlab"));
    char restore[64];
    snprintf(restore, sizeof restore, "PRAGMA user_version = %d", STORE_SCHEMA_VERSION);
    execute_on_file(restore);
    store = fixture_open_store();
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "a");
}
END_TEST

/* Puts an empty database of an older version in the place of the store's, which it closes. */
static void begin_with_schema(int version) {
    char path[128];
    sqlite3 *database = NULL;
    store->close(store);
    database_path(path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert(schema_migrate(database, version, &error));
    sqlite3_close(database);
}

START_TEST(an_older_schema_is_migrated) {
    begin_with_schema(1);
    execute_on_file("INSERT INTO runs VALUES ('old','train','','{}',2,0,0,'',1,0,0,NULL,NULL,NULL,0,0,'')");
    store = fixture_open_store();
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "old");
    struct dataset_record dataset = {.name = "new", .format = "csv", .size_bytes = 1, .owner = ""};
    ck_assert(store->add_dataset(store, &dataset, "x", &error));
}
END_TEST

START_TEST(large_results_of_an_older_schema_are_moved_apart) {
    begin_with_schema(2);
    execute_on_file("INSERT INTO runs VALUES ('a','x','','{}',2,0,0,'',1,0,0,"
                    "replace(hex(zeroblob(9000)),'0','7'),NULL,NULL,0,0,'')");
    execute_on_file("INSERT INTO runs VALUES ('b','x','','{}',2,0,0,'',1,0,0,'7',NULL,NULL,0,0,'')");
    store = fixture_open_store();
    char *large = make_result(18000);
    assert_result("a", large, true);
    assert_result("b", "7", false);
    free(large);
}
END_TEST

START_TEST(another_programs_database_is_refused) {
    char path[128], warning[512];
    store->close(store);
    database_path(path);
    ck_assert_int_eq(unlink(path), 0);
    execute_on_file("CREATE TABLE bookmarks (url TEXT)");
    store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    ck_assert_ptr_null(store);
    ck_assert_ptr_nonnull(strstr(error.message, "another program"));
}
END_TEST

/* Writes over part of the closed database, opens again, and finds the damaged one set aside as it was. */
static void damage_and_open(long offset, size_t length, bool cut) {
    char path[128], warning[512], *aside, *end;
    add_run("a");
    for (size_t i = 0; i < 20; i++)
        save_epoch("a", i, 1000);
    store->close(store);
    database_path(path);
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    fseek(file, offset, SEEK_SET);
    for (size_t i = 0; i < length; i++)
        fputc(0x5a, file);
    fclose(file);
    if (cut)
        ck_assert_int_eq(truncate(path, offset), 0);
    struct stat before, after;
    ck_assert_int_eq(stat(path, &before), 0);
    store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    ck_assert_msg(store != NULL, "%s", error.message);
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "");
    aside = strstr(warning, fixture_directory);
    ck_assert_ptr_nonnull(aside);
    end = strchr(aside, ' ');
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    ck_assert_int_eq(stat(aside, &after), 0);
    ck_assert_int_eq(before.st_size, after.st_size);
    ck_assert_int_eq((long)before.st_ino, (long)after.st_ino);
}

START_TEST(a_damaged_header_is_set_aside) {
    damage_and_open(0, 100, false);
}
END_TEST

START_TEST(a_damaged_page_is_set_aside) {
    damage_and_open(8192, 200, false);
}
END_TEST

START_TEST(a_cut_database_is_set_aside) {
    damage_and_open(16384, 0, true);
}
END_TEST

static size_t count_set_aside(void) {
    size_t count = 0;
    DIR *directory = opendir(fixture_directory);
    ck_assert_ptr_nonnull(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory))
        count += strstr(entry->d_name, ".damaged-") != NULL;
    closedir(directory);
    return count;
}

/* Even where it happens within one second. */
START_TEST(no_damaged_database_takes_anothers_place) {
    for (size_t damages = 1; damages <= 3; damages++) {
        damage_and_open(0, 100, false);
        ck_assert_uint_eq(count_set_aside(), damages);
    }
}
END_TEST

START_TEST(an_unwritable_directory_is_one_clear_line) {
    char warning[512];
    ck_assert_ptr_null(store_open_sqlite("/proc/attnlab", warning, sizeof warning, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(error.message, "/proc/attnlab"));
    ck_assert_ptr_null(strchr(error.message, '\n'));
}
END_TEST

/* As if the disk were full: the database may not grow. */
static void limit_pages(int64_t pages) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA max_page_count = %lld", (long long)pages);
    sqlite3 *writer = sqlite_store_of(store)->writer.database;
    ck_assert_int_eq(sqlite3_exec(writer, pragma, NULL, NULL, NULL), SQLITE_OK);
}

START_TEST(a_full_disk_leaves_the_store_sound) {
    add_run("a");
    save_epoch("a", 0, 100);
    limit_pages(1);
    float *weights = calloc(1 << 20, sizeof *weights);
    struct epoch_metrics metrics = {1, 0.5, 0.75, 1.5};
    struct epoch_record epoch = {.metrics = &metrics, .weights = weights, .weight_count = 1 << 20};
    ck_assert(!store->save_epoch(store, "a", &epoch, NULL, 0, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
    ck_assert_str_eq(error.message, "the disk with the data directory is full");
    free(weights);
    limit_pages(1000000);
    struct epoch_metrics *rows = NULL;
    size_t count = 0;
    ck_assert(store->read_metrics(store, "a", &rows, &count, &error));
    ck_assert_uint_eq(count, 1);
    free(rows);
    save_epoch("a", 1, 100);
    reopen();
}
END_TEST

int main(void) {
    TCase *tests = tcase_create("store");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, runs_survive_reopening);
    tcase_add_test(tests, large_results_are_kept_apart);
    tcase_add_test(tests, missing_runs_are_said_so);
    tcase_add_test(tests, listings_filter_and_page);
    tcase_add_test(tests, adding_runs_is_all_or_nothing);
    tcase_add_test(tests, an_epoch_is_all_or_nothing);
    tcase_add_test(tests, what_ran_goes_on_before_what_waited);
    tcase_add_test(tests, epochs_are_read_back);
    tcase_add_test(tests, an_ended_run_has_no_checkpoint_and_a_deleted_one_nothing);
    tcase_add_test(tests, the_middle_of_many_snapshots_is_thinned);
    tcase_add_test(tests, the_first_and_the_newest_snapshots_are_always_kept);
    tcase_add_test(tests, large_snapshots_are_thinned_by_size);
    tcase_add_test(tests, a_comparison_is_deleted_with_its_runs);
    tcase_add_test(tests, events_are_read_in_pieces);
    tcase_add_test(tests, data_sets_keep_their_bytes);
    tcase_add_test(tests, the_cache_forgets_the_oldest);
    tcase_add_test(tests, what_somebody_was_told_is_on_the_disk);
    tcase_add_test(tests, the_database_is_its_owners_alone);
    tcase_add_test(tests, a_second_process_is_refused);
    tcase_add_test(tests, the_database_is_locked_while_it_is_open);
    tcase_add_test(tests, generations_grow);
    tcase_add_test(tests, a_newer_schema_is_refused_and_left_alone);
    tcase_add_test(tests, an_older_schema_is_migrated);
    tcase_add_test(tests, large_results_of_an_older_schema_are_moved_apart);
    tcase_add_test(tests, another_programs_database_is_refused);
    tcase_add_test(tests, a_damaged_header_is_set_aside);
    tcase_add_test(tests, a_damaged_page_is_set_aside);
    tcase_add_test(tests, a_cut_database_is_set_aside);
    tcase_add_test(tests, no_damaged_database_takes_anothers_place);
    tcase_add_test(tests, an_unwritable_directory_is_one_clear_line);
    tcase_add_test(tests, a_full_disk_leaves_the_store_sound);
    Suite *suite = suite_create("store");
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
