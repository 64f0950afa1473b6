/* The store's file: syncing to the disk, permissions and locks, older and newer schemas, damage, a full disk.
 */
#include "server/store/sqlite_schema.h"
#include "server/store/sqlite_vacuum.h"
#include "tests/unit/main.h"
#include "tests/unit/server/store/store_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Counts how often this process syncs to the disk: SQLite calls these functions. */
static int syncs;

int fsync(int file) {
    syncs++;
    return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
    syncs++;
    return (int)syscall(SYS_fdatasync, file);
}

START_TEST(acknowledged_changes_are_on_the_disk) {
    add_run("a");
    save_epoch("a", 0, 1); /* an epoch does not wait for the disk */
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

START_TEST(only_its_owner_can_read_the_database) {
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

/* SQLite's locks belong to the process. Another process must see that the database is in use, or it would
 * take over the log. */
START_TEST(the_database_is_locked_while_it_is_open) {
    char path[128];
    database_path(path);
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

/* Closes the store and replaces its database by an empty one of an older version. */
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

START_TEST(damaged_values_are_shown_as_damaged) {
    static const char *const damages[] = {"state = 99", "state = 'x'", "name = x'41'", "parameters = 7.5"};
    struct run_record found;
    add_run("a");
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char statement[64];
        snprintf(statement, sizeof statement, "UPDATE runs SET state = 0, name = '', parameters = ''");
        execute_on_file(statement);
        snprintf(statement, sizeof statement, "UPDATE runs SET %s", damages[i]);
        execute_on_file(statement);
        ck_assert(store->find_run(store, "a", &found, &error));
        /* SQLite turns a number into a text for a column of texts. */
        ck_assert_msg(found.is_damaged == (i != 3), "%s", damages[i]);
        ck_assert_int_eq(found.state, i < 2 ? RUN_FAILED : RUN_QUEUED);
        ck_assert_str_eq(found.name, "");
        run_record_clear(&found);
        assert_listing((struct run_filter){.state = -1, .limit = 10}, "a");
    }
}
END_TEST

/* Damages the page of the runs' table that has the run "b" on it, behind the back of the open store. */
START_TEST(a_list_shows_the_runs_that_can_be_read) {
    char path[128];
    struct run_record *runs = NULL;
    size_t count = 0, damaged = 0;
    char *filling = make_result(7000);
    const char *const ids[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        struct run_record run = example_run(ids[i]);
        run.name = i == 1 ? "a name to be found" : "";
        run.state = RUN_SUCCEEDED; /* the start reads those that have not ended */
        run.parameters_json = filling;
        ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    }
    reopen(); /* moves the log into the database */
    database_path(path);
    FILE *file = fopen(path, "r+");
    char page[8192];
    for (long at = 0; fread(page, 1, sizeof page, file) == sizeof page; at += (long)sizeof page)
        if (memmem(page, sizeof page, "a name to be found", 18) != NULL) {
            fseek(file, at, SEEK_SET);
            fwrite("\xff\xff\xff\xff\xff\xff\xff\xff", 1, 8, file);
            fseek(file, at + (long)sizeof page, SEEK_SET);
            damaged++;
        }
    fclose(file);
    ck_assert_uint_eq(damaged, 1);
    const struct run_filter filter = {.state = -1, .limit = 10};
    ck_assert_msg(store->list_runs(store, &filter, &runs, &count, &error), "%s", error.message);
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < count; i++)
        ck_assert(runs[i].is_damaged == (runs[i].id[0] == 'b'));
    run_records_free(runs, count);
    free(filling);
    /* The next start checks the database as a whole, however large it is. */
    strcat(path, SQLITE_CHECK_SUFFIX);
    ck_assert_int_eq(access(path, F_OK), 0);
    store->close(store);
    char warning[512];
    store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    ck_assert_ptr_nonnull(strstr(warning, "damaged"));
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

/* A stored generation that went back would give new events the ids of old ones. */
START_TEST(a_damaged_generation_stays_above_the_ids_of_events) {
    struct event_record event = {.id = (7ull << 32) + 5, .run_id = "a", .kind = EVENT_STATE, .payload = "{}"};
    struct run_record run = example_run("a");
    ck_assert(store->add_runs(store, NULL, &run, 1, &event, 1, &error));
    execute_on_file("UPDATE settings SET value = 'x' WHERE name = 'generation'");
    reopen();
    ck_assert_uint_eq(store->generation(store), 8);
    execute_on_file("UPDATE settings SET value = '99999999999999999' WHERE name = 'generation'");
    reopen();
    ck_assert_uint_eq(store->generation(store), 8);
}
END_TEST

START_TEST(large_results_of_an_older_schema_are_moved_out_of_the_runs) {
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

static void assert_dataset(const char *run_id, const char *digest) {
    struct run_record run;
    ck_assert(store->find_run(store, run_id, &run, &error));
    ck_assert(digest != NULL ? run.dataset_digest != NULL && strcmp(run.dataset_digest, digest) == 0
                             : run.dataset_digest == NULL);
    run_record_clear(&run);
}

/* A run holds the data set that it was trained on, as far as an older database tells. */
START_TEST(runs_of_an_older_schema_get_their_data_sets) {
    char digest[DATASET_DIGEST_SIZE];
    dataset_digest("csv", "x", 1, digest);
    begin_with_schema(5);
    execute_on_file("INSERT INTO datasets VALUES ('mine','csv',100,1,1,1,1,'',x'78')");
    execute_on_file(
        "INSERT INTO runs (id,experiment,name,parameters,state,progress_done,progress_total,progress_unit,"
        "created_ms,started_ms,finished_ms,comparison_variant,comparison_seed,owner)"
        " SELECT column1,'train','',column2,column3,0,0,'',column4,0,0,0,0,'' FROM (VALUES"
        " ('waits','{\"task\":\"mine\"}',0,50),('ended','{\"task\":\"mine\"}',2,150),"
        " ('older','{\"task\":\"mine\"}',2,50),('drawn','{\"task\":\"reviews\"}',2,150),"
        " ('other','{}',2,150),('damaged','{',2,150))");
    store = fixture_open_store();
    assert_dataset("waits", digest);
    assert_dataset("ended", digest);
    assert_dataset("older", NULL);
    assert_dataset("drawn", NULL);
    assert_dataset("other", "");
    assert_dataset("damaged", NULL);
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

/* Overwrites part of the closed database and opens it again: the damaged file must be set aside unchanged. */
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

START_TEST(a_truncated_database_is_set_aside) {
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

/* The name of a damaged database contains the second; several in one second still get different names. */
START_TEST(no_damaged_database_overwrites_another) {
    for (size_t damages = 1; damages <= 3; damages++) {
        damage_and_open(0, 100, false);
        ck_assert_uint_eq(count_set_aside(), damages);
    }
}
END_TEST

/* Runs a shell command in the data directory; $f is a file's name. */
static int in_directory(const char *file, const char *command) {
    char text[500];
    snprintf(text, sizeof text, "cd '%s' && f='attnlab.%s' && %s", fixture_directory, file, command);
    return system(text);
}

/* A student's program on this machine may put links, pipes and directories where attnlab's files belong, if
 * the directory lets it. Each kind, for each file: nothing is written through it, and nothing waits. */
START_TEST(links_and_pipes_in_the_data_directory_lead_nowhere) {
    static const char *const files[] = {
        "lock", "sqlite3", "sqlite3-wal", "sqlite3-shm", "sqlite3-journal", "sqlite3.check", "reserve"};
    static const char *const kinds[] = {"ln -s victim $f", "ln -s nothing $f", "ln victim $f", "mkfifo $f",
                                        "mkdir $f"};
    char warning[512];
    store->close(store);
    store = NULL;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            ck_assert_int_eq(in_directory(files[i], "rm -rf ./* && printf precious > victim"), 0);
            ck_assert_int_eq(in_directory(files[i], kinds[j]), 0);
            error = (struct error){0};
            struct store *opened = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
            ck_assert_msg(opened != NULL || error.message[0] != '\0', "%s: %s", files[i], kinds[j]);
            if (opened != NULL)
                opened->close(opened);
            ck_assert_msg(in_directory(files[i], "test ! -e nothing && test \"$(cat victim)\" = precious") ==
                              0,
                          "%s: %s", files[i], kinds[j]);
        }
}
END_TEST

START_TEST(a_directory_that_others_can_write_draws_a_warning) {
    char warning[512];
    store->close(store);
    ck_assert_int_eq(chmod(fixture_directory, 0777), 0);
    store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    ck_assert_ptr_nonnull(store);
    ck_assert_ptr_nonnull(strstr(warning, "chmod 700"));
}
END_TEST

START_TEST(an_unwritable_directory_gives_one_clear_line) {
    char warning[512];
    ck_assert_ptr_null(store_open_sqlite("/proc/attnlab", warning, sizeof warning, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(error.message, "/proc/attnlab"));
    ck_assert_ptr_null(strchr(error.message, '\n'));
}
END_TEST

/* Simulates a full disk: the database may not grow. */
static void limit_pages(int64_t pages) {
    char pragma[64];
    snprintf(pragma, sizeof pragma, "PRAGMA max_page_count = %lld", (long long)pages);
    sqlite3 *writer = sqlite_store_of(store)->writer.database;
    ck_assert_int_eq(sqlite3_exec(writer, pragma, NULL, NULL, NULL), SQLITE_OK);
}

START_TEST(a_full_disk_leaves_the_store_intact) {
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

static long file_size(const char *suffix) {
    char path[160];
    struct stat status;
    database_path(path);
    strcat(path, suffix);
    return stat(path, &status) == 0 ? (long)status.st_size : 0;
}

/* Waits for the thread that shrinks the database: until its file has at most `size` bytes. */
static void wait_for_size(long size) {
    for (int i = 0; i < 3000 && file_size("") > size; i++)
        usleep(10000);
    ck_assert_int_le(file_size(""), size);
}

enum { LARGE_RESULT = 16 << 20 };

static void add_large_run(const char *id) {
    struct run_record run = example_run(id);
    add_run(id);
    run.state = RUN_SUCCEEDED;
    run.result_json = malloc(LARGE_RESULT + 1);
    ck_assert_ptr_nonnull(run.result_json);
    memset(run.result_json, '1', LARGE_RESULT);
    run.result_json[LARGE_RESULT] = '\0';
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    free(run.result_json);
}

/* Otherwise nothing can be deleted on a full disk: SQLite as Debian builds it writes as much to the log as it
 * deletes. */
START_TEST(deleting_a_run_needs_no_room_for_what_it_deletes) {
    add_large_run("a");
    sqlite3 *writer = sqlite_store_of(store)->writer.database;
    sqlite3_wal_checkpoint_v2(writer, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    ck_assert(store->delete_run(store, "a", &error));
    ck_assert_int_le(file_size("-wal"), LARGE_RESULT / 4); /* with the first steps of the vacuum */
}
END_TEST

START_TEST(the_file_shrinks_after_a_deletion) {
    add_run("b");
    add_large_run("a");
    ck_assert(store->delete_run(store, "a", &error));
    wait_for_size(2 << 20);
    reopen();
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "b");
}
END_TEST

START_TEST(the_file_of_an_older_attnlab_shrinks_too) {
    begin_with_schema(STORE_SCHEMA_VERSION);
    store = fixture_open_store();
    ck_assert(!vacuum_is_missing(&sqlite_store_of(store)->writer));
    add_run("b");
    add_large_run("a");
    reopen();
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "ba");
    ck_assert(store->delete_run(store, "a", &error));
    wait_for_size(2 << 20);
}
END_TEST

static byte_count reserve_held(void) {
    return atomic_load(&sqlite_store_of(store)->room.held);
}

static void wait_for_reserve(void) {
    const struct disk_room *room = &sqlite_store_of(store)->room;
    for (int i = 0; i < 3000 && reserve_held() < room->size; i++)
        usleep(10000);
    ck_assert_uint_ge(reserve_held(), room->size);
}

START_TEST(the_reserve_is_given_up_and_taken_again) {
    struct disk_room *room = &sqlite_store_of(store)->room;
    wait_for_reserve();
    ck_assert(disk_room_give_up(room, false));
    ck_assert_uint_lt(reserve_held(), room->size / 2);
    ck_assert_uint_gt(reserve_held(), 0); /* for the next start */
    ck_assert(!disk_room_give_up(room, false));
    add_run("a");
    ck_assert(store->delete_run(store, "a", &error));
    wait_for_reserve();
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, acknowledged_changes_are_on_the_disk);
    tcase_add_test(tests, only_its_owner_can_read_the_database);
    tcase_add_test(tests, a_second_process_is_refused);
    tcase_add_test(tests, the_database_is_locked_while_it_is_open);
    tcase_add_test(tests, generations_grow);
    tcase_add_test(tests, a_newer_schema_is_refused_and_left_alone);
    tcase_add_test(tests, an_older_schema_is_migrated);
    tcase_add_test(tests, damaged_values_are_shown_as_damaged);
    tcase_add_test(tests, a_list_shows_the_runs_that_can_be_read);
    tcase_add_test(tests, a_damaged_generation_stays_above_the_ids_of_events);
    tcase_add_test(tests, large_results_of_an_older_schema_are_moved_out_of_the_runs);
    tcase_add_test(tests, runs_of_an_older_schema_get_their_data_sets);
    tcase_add_test(tests, another_programs_database_is_refused);
    tcase_add_test(tests, a_damaged_header_is_set_aside);
    tcase_add_test(tests, a_damaged_page_is_set_aside);
    tcase_add_test(tests, a_truncated_database_is_set_aside);
    tcase_add_test(tests, no_damaged_database_overwrites_another);
    tcase_add_test(tests, links_and_pipes_in_the_data_directory_lead_nowhere);
    tcase_add_test(tests, a_directory_that_others_can_write_draws_a_warning);
    tcase_add_test(tests, an_unwritable_directory_gives_one_clear_line);
    tcase_add_test(tests, a_full_disk_leaves_the_store_intact);
    tcase_add_test(tests, deleting_a_run_needs_no_room_for_what_it_deletes);
    tcase_add_test(tests, the_file_shrinks_after_a_deletion);
    tcase_add_test(tests, the_file_of_an_older_attnlab_shrinks_too);
    tcase_add_test(tests, the_reserve_is_given_up_and_taken_again);
}
