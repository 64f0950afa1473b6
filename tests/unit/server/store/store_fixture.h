/* For tests of the store: opens a store in its own directory, fills it with runs and epochs, and checks its
 * contents. */
#ifndef ATTNLAB_TESTS_UNIT_SERVER_STORE_STORE_FIXTURE_H
#define ATTNLAB_TESTS_UNIT_SERVER_STORE_STORE_FIXTURE_H

#include "tests/unit/server/server_fixture.h"

#include <sqlite3.h>

static struct store *store;
static struct error error;

static inline void setup(void) {
    error = (struct error){0};
    fixture_make_directory();
    store = fixture_open_store();
}

static inline void teardown(void) {
    if (store != NULL)
        store->close(store);
    fixture_remove_directory();
}

static inline void reopen(void) {
    store->close(store);
    store = fixture_open_store();
}

/* A record with borrowed texts: do not clear it. */
static inline struct run_record example_run(const char *id) {
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

static inline void add_run(const char *id) {
    struct run_record run = example_run(id);
    ck_assert_msg(store->add_runs(store, NULL, &run, 1, NULL, 0, &error), "%s", error.message);
}

static inline void save_epoch(const char *id, size_t number, size_t weight_count) {
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

static inline void database_path(char path[128]) {
    snprintf(path, 128, "%s/attnlab.sqlite3", fixture_directory);
}

/* A JSON text of `size` bytes; release it with free(). */
static inline char *make_result(size_t size) {
    char *json = malloc(size + 1);
    ck_assert_ptr_nonnull(json);
    memset(json, '7', size);
    json[size] = '\0';
    return json;
}

static inline size_t count_rows(const char *table) {
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

/* Finds the run and checks its result, which must be stored apart from the record if `is_apart`, and in the
 * record if not. */
static inline void assert_result(const char *id, const char *result_json, bool is_apart) {
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

/* Checks the ids that a listing returns; `expected` is their concatenation. */
static inline void assert_listing(struct run_filter filter, const char *expected) {
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

#endif
