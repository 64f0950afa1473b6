/* The store: it reads back what it has written, and makes a change completely or not at all. */
#include "server/store/sqlite_connection.h"
#include "tests/unit/main.h"
#include "tests/unit/server/store/store_fixture.h"

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

START_TEST(missing_runs_are_reported) {
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
    /* The event, which is written last, is refused because its id exists already. */
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

START_TEST(running_runs_resume_before_waiting_ones) {
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

START_TEST(an_ended_run_loses_its_checkpoint_and_a_deleted_run_everything) {
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

/* After every epoch the store has the first and the newest, and with up to 64 epochs it has all of them. */
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

static bool uses_index(sqlite3_stmt *plan, bool *scans) {
    const char *step = (const char *)sqlite3_column_text(plan, 3);
    *scans |= strstr(step, "SCAN") != NULL || strstr(step, "TEMP B-TREE") != NULL;
    return strstr(step, "INDEX") != NULL;
}

/* Every filter and combination of filters reads only the rows that the list returns. */
START_TEST(no_list_of_runs_reads_all_runs) {
    struct sqlite_store *self = sqlite_store_of(store);
    sqlite3 *database = self->bulk_reader.database;
    struct run_record *runs = NULL;
    size_t count = 0;
    for (int i = 0; i < 16; i++) {
        struct run_filter filter = {.state = i & 1 ? RUN_QUEUED : -1,
                                    .experiment = i & 2 ? "train" : NULL,
                                    .owner = i & 4 ? "somebody" : NULL,
                                    .comparison = i & 8 ? "k" : NULL,
                                    .limit = 10};
        ck_assert(store->list_runs(store, &filter, &runs, &count, &error));
    }
    size_t lists = 0;
    for (sqlite3_stmt *next = sqlite3_next_stmt(database, NULL); next != NULL;
         next = sqlite3_next_stmt(database, next)) {
        const char *text = sqlite3_sql(next);
        if (strstr(text, "FROM runs WHERE id < ") == NULL)
            continue;
        char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", text);
        sqlite3_stmt *plan = NULL;
        bool indexed = false, scans = false;
        ck_assert_int_eq(sqlite3_prepare_v2(self->reader.database, explain, -1, &plan, NULL), SQLITE_OK);
        while (sqlite3_step(plan) == SQLITE_ROW)
            indexed |= uses_index(plan, &scans);
        ck_assert_msg(indexed && !scans, "%s", text);
        sqlite3_finalize(plan);
        sqlite3_free(explain);
        lists++;
    }
    ck_assert_uint_eq(lists, 9);
}
END_TEST

/* The work for a page does not grow with the number of runs: SQLite counts its steps. */
START_TEST(a_list_takes_no_longer_with_many_runs) {
    enum { RUNS = 20000 };
    struct sqlite_store *self = sqlite_store_of(store);
    sqlite3 *writer = self->writer.database;
    struct run_record *runs = NULL;
    size_t count = 0;
    ck_assert_int_eq(
        sqlite3_exec(
            writer,
            "INSERT INTO runs (id, experiment, name, parameters, state, progress_done,"
            " progress_total, progress_unit, created_ms, started_ms, finished_ms, comparison_variant,"
            " comparison_seed, owner) WITH RECURSIVE number(n) AS (VALUES (0) UNION ALL SELECT n + 1"
            " FROM number WHERE n < 19999) SELECT printf('%08d', n), iif(n % 2, 'train', 'cost'), '',"
            " '{}', iif(n % 2, 2, 3), 0, 0, '', 1, 1, 1, 0, 0, iif(n < 10000, 'a', 'b') FROM number",
            NULL, NULL, NULL),
        SQLITE_OK);
    /* The last is empty although there are many runs in each of its filters. */
    static const struct run_filter filters[] = {
        {.state = -1, .limit = 10},
        {.state = RUN_SUCCEEDED, .owner = "a", .limit = 10},
        {.state = -1, .experiment = "cost", .owner = "a", .before = "00005000", .limit = 10},
        {.state = RUN_SUCCEEDED, .experiment = "cost", .owner = "b", .limit = 10}};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        ck_assert(store->list_runs(store, &filters[i], &runs, &count, &error));
        ck_assert_uint_eq(count, i < 3 ? 10 : 0);
        run_records_free(runs, count);
    }
    for (sqlite3_stmt *next = sqlite3_next_stmt(self->bulk_reader.database, NULL); next != NULL;
         next = sqlite3_next_stmt(self->bulk_reader.database, next))
        if (strstr(sqlite3_sql(next), "FROM runs WHERE id < ") != NULL)
            ck_assert_int_lt(sqlite3_stmt_status(next, SQLITE_STMTSTATUS_VM_STEP, 0), RUNS / 10);
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
        .name = "mine", .digest = "12", .format = "csv", .size_bytes = 5, .is_text = true, .owner = ""};
    struct run_ids users;
    struct dataset_record found;
    void *bytes = NULL;
    size_t size = 0;
    ck_assert(store->add_dataset(store, &dataset, "a\0b\nc", &error));
    ck_assert(!store->add_dataset(store, &dataset, "other", &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    ck_assert(store->read_dataset(store, "12", &found, &bytes, &size, &error));
    ck_assert_uint_eq(size, 5);
    ck_assert_mem_eq(bytes, "a\0b\nc", 5);
    ck_assert(found.is_text);
    free(bytes);
    dataset_record_clear(&found);
    ck_assert(store->delete_dataset(store, "mine", &users, &error));
    error = (struct error){0};
    ck_assert(!store->delete_dataset(store, "mine", &users, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
}
END_TEST

START_TEST(a_data_set_in_use_cannot_be_deleted) {
    struct dataset_record dataset = {
        .name = "mine", .digest = "12", .format = "csv", .size_bytes = 1, .owner = ""};
    struct run_record run = example_run("a");
    struct run_ids users;
    run.dataset_digest = "12";
    ck_assert(!store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT); /* it was deleted meanwhile */
    ck_assert(store->add_dataset(store, &dataset, "x", &error));
    ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    error = (struct error){0};
    ck_assert(!store->delete_dataset(store, "mine", &users, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    ck_assert_uint_eq(users.count, 1);
    ck_assert_str_eq(users.ids[0], "a");
    free(users.ids);
    run.state = RUN_SUCCEEDED;
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    ck_assert(store->delete_dataset(store, "mine", &users, &error));
    ck_assert_ptr_null(users.ids);
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

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, runs_survive_reopening);
    tcase_add_test(tests, large_results_are_kept_apart);
    tcase_add_test(tests, missing_runs_are_reported);
    tcase_add_test(tests, listings_filter_and_page);
    tcase_add_test(tests, adding_runs_is_all_or_nothing);
    tcase_add_test(tests, an_epoch_is_all_or_nothing);
    tcase_add_test(tests, running_runs_resume_before_waiting_ones);
    tcase_add_test(tests, epochs_are_read_back);
    tcase_add_test(tests, an_ended_run_loses_its_checkpoint_and_a_deleted_run_everything);
    tcase_add_test(tests, the_middle_of_many_snapshots_is_thinned);
    tcase_add_test(tests, the_first_and_the_newest_snapshots_are_always_kept);
    tcase_add_test(tests, large_snapshots_are_thinned_by_size);
    tcase_add_test(tests, a_comparison_is_deleted_with_its_runs);
    tcase_add_test(tests, no_list_of_runs_reads_all_runs);
    tcase_add_test(tests, a_list_takes_no_longer_with_many_runs);
    tcase_add_test(tests, events_are_read_in_pieces);
    tcase_add_test(tests, data_sets_keep_their_bytes);
    tcase_add_test(tests, a_data_set_in_use_cannot_be_deleted);
    tcase_add_test(tests, the_cache_forgets_the_oldest);
}
