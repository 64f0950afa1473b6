/* What owners' runs and data sets take, against what the tables hold, and which runs go when there are too
 * many. */
#include "server/store/sqlite_connection.h"
#include "tests/unit/main.h"
#include "tests/unit/server/store/store_fixture.h"

#include <math.h>

static unsigned long long usage_of(const char *owner) {
    unsigned long long bytes = 1;
    ck_assert(store->read_usage(store, owner, &bytes, &error));
    return bytes;
}

/* The bytes of the weights, checkpoints and large results that are stored. */
static unsigned long long stored_bytes(void) {
    char path[128];
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    database_path(path);
    ck_assert_int_eq(sqlite3_open(path, &database), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(database,
                                        "SELECT (SELECT total(length(bytes)) FROM weights)"
                                        " + (SELECT total(length(bytes)) FROM checkpoints)"
                                        " + (SELECT total(length(json)) FROM results)",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    unsigned long long bytes = (unsigned long long)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return bytes;
}

/* A run takes its rows besides. */
static void assert_usage(size_t runs, size_t epochs) {
    ck_assert_uint_eq(usage_of("somebody"), stored_bytes() + 4096 * runs + 400 * epochs);
}

START_TEST(usage_follows_what_is_stored) {
    ck_assert_uint_eq(usage_of("somebody"), 0);
    add_run("a");
    assert_usage(1, 0);
    for (size_t i = 0; i <= 150; i++) { /* weights are thinned after 64 */
        save_epoch("a", i, 1000);
        if (i % 10 == 0)
            assert_usage(1, i + 1);
    }
    save_epoch("a", 149, 1000); /* a run that goes on from its checkpoint */
    save_epoch("a", 150, 1000);
    assert_usage(1, 151);
    struct run_record run = example_run("a");
    run.state = RUN_SUCCEEDED;
    run.result_json = make_result(1 << 20);
    ck_assert(store->update_run(store, &run, true, NULL, 0, &error));
    free(run.result_json);
    assert_usage(1, 151);
    add_run("b");
    assert_usage(2, 151);
    ck_assert_uint_eq(usage_of("somebody else"), 0);
    ck_assert(store->delete_run(store, "a", &error));
    ck_assert_uint_eq(usage_of("somebody"), 4096);
    ck_assert(store->delete_run(store, "b", &error));
    ck_assert_uint_eq(usage_of("somebody"), 0);
}
END_TEST

/* Students' runs are held to the estimate before they start, so it must not be below what is counted then,
 * and apart from the checkpoint, which these epochs have not, not far above it. */
START_TEST(the_estimate_of_a_run_holds) {
    static const size_t weight_counts[] = {10, 1000, 300000};
    for (size_t i = 0; i < 3; i++) {
        char id[] = {(char)('a' + i), '\0'};
        double weights = (double)(weight_counts[i] * sizeof(float)), most = 0;
        unsigned long long before = usage_of("somebody");
        add_run(id);
        for (size_t epoch = 0; epoch < 70; epoch++) {
            save_epoch(id, epoch, weight_counts[i]);
            double taken = (double)(usage_of("somebody") - before);
            most = fmax(most, taken);
            if (store_run_bytes((double)epoch + 1, weights, 0) < taken)
                ck_abort_msg("%zu weights, epoch %zu: %.0f bytes", weight_counts[i], epoch, taken);
        }
        ck_assert_double_lt(store_run_bytes(70, weights, 0), 1.1 * most + 3 * weights + 4096);
    }
}
END_TEST

/* A student could store any amount in runs that are cancelled before they begin. */
START_TEST(large_parameters_count_too) {
    struct run_record run = example_run("a");
    run.parameters_json = make_result(1 << 20);
    ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    ck_assert_uint_eq(usage_of("somebody"), 1 << 20);
    free(run.parameters_json);
    ck_assert(store->delete_run(store, "a", &error));
    ck_assert_uint_eq(usage_of("somebody"), 0);
}
END_TEST

START_TEST(data_sets_count_too) {
    struct dataset_record dataset = {
        .name = "mine", .format = "csv", .size_bytes = 5000, .owner = "somebody"};
    char bytes[5000] = "text";
    struct run_ids users = {0};
    ck_assert(store->add_dataset(store, &dataset, bytes, &error));
    ck_assert_uint_eq(usage_of("somebody"), 5000);
    ck_assert(store->delete_dataset(store, "mine", &users, &error));
    ck_assert_uint_eq(usage_of("somebody"), 0);
}
END_TEST

START_TEST(those_who_take_most_come_first) {
    static const char *const owners[] = {"small", "large", "middle"};
    static const size_t counts[] = {1, 3, 2};
    struct usage_record *usage = NULL;
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < counts[i]; j++) {
            char id[ID_SIZE];
            snprintf(id, sizeof id, "%zu%zu", i, j);
            struct run_record run = example_run(id);
            run.owner = (char *)owners[i];
            ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
        }
    ck_assert(store->list_usage(store, 2, &usage, &count, &error));
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(usage[0].owner, "large");
    ck_assert_uint_eq(usage[0].run_count, 3);
    ck_assert_str_eq(usage[1].owner, "middle");
    for (size_t i = 0; i < count; i++)
        free(usage[i].owner);
    free(usage);
}
END_TEST

/* Adds runs from a text of four characters each: id, owner (l the lecturer, s a student), name (- for none),
 * state (e for ended). */
static void add_runs_from(const char *text) {
    for (const char *c = text; *c != '\0'; c += 4) {
        char id[2] = {c[0], '\0'}, name[2] = {c[2] == '-' ? '\0' : c[2], '\0'};
        struct run_record run = example_run(id);
        run.owner = c[1] == 'l' ? "lecturer" : "student";
        run.name = name;
        run.state = c[3] == 'e' ? RUN_SUCCEEDED : RUN_RUNNING;
        ck_assert(store->add_runs(store, NULL, &run, 1, NULL, 0, &error));
    }
}

static void prune(size_t keep, const char *lecturer) {
    const struct prune_rule rule = {keep, lecturer, 2};
    size_t deleted = 1;
    while (deleted > 0)
        ck_assert(store->prune_runs(store, &rule, &deleted, &error));
}

START_TEST(the_oldest_unnamed_runs_go_first_and_the_lecturers_named_never) {
    add_runs_from("alxe"
                  "bsxe"
                  "cs-r"
                  "ds-e"
                  "el-e"
                  "fs-e");
    prune(4, "lecturer");
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "fecba");
    prune(3, "lecturer");
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "fcba");
    prune(2, "lecturer");
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "cba");
    prune(0, NULL); /* nobody is a student */
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "cba");
    prune(0, "lecturer");
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "ca");
}
END_TEST

START_TEST(a_comparison_stays_or_goes_as_a_whole) {
    struct comparison_record comparison = {.id = "z",
                                           .experiment = "train",
                                           .name = "",
                                           .labels_json = "[]",
                                           .seeds_json = "[]",
                                           .owner = "student"};
    struct run_record runs[] = {example_run("a"), example_run("b")};
    for (size_t i = 0; i < 2; i++) {
        strcpy(runs[i].comparison, "z");
        runs[i].owner = "student";
        runs[i].state = i == 0 ? RUN_SUCCEEDED : RUN_RUNNING;
    }
    ck_assert(store->add_runs(store, &comparison, runs, 2, NULL, 0, &error));
    prune(0, "lecturer");
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "ba");
    runs[1].state = RUN_FAILED;
    ck_assert(store->update_run(store, &runs[1], true, NULL, 0, &error));
    prune(1, NULL); /* a comparison with one of its runs would show something false */
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "ba");
    add_runs_from("cs-e");
    prune(2, NULL); /* it is the oldest, and one run alone would stay */
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "cba");
    prune(1, NULL); /* the comparison has no name, so its runs have none */
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "c");
    prune(0, NULL);
    assert_listing((struct run_filter){.state = -1, .limit = 10}, "");
    ck_assert_uint_eq(count_rows("comparisons"), 0);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, usage_follows_what_is_stored);
    tcase_add_test(tests, the_estimate_of_a_run_holds);
    tcase_add_test(tests, large_parameters_count_too);
    tcase_add_test(tests, data_sets_count_too);
    tcase_add_test(tests, those_who_take_most_come_first);
    tcase_add_test(tests, the_oldest_unnamed_runs_go_first_and_the_lecturers_named_never);
    tcase_add_test(tests, a_comparison_stays_or_goes_as_a_whole);
}
