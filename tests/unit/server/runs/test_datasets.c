/* The data source for runs: data sets in the store, files in the data directory. */
#include "core/tasks/dataset.h"
#include "tests/unit/main.h"
#include "tests/unit/server/runs/runs_fixture.h"

START_TEST(data_sets_are_parsed_once_and_shared) {
    struct dataset_record record;
    struct run_ids users;
    open_all((struct runs_options){.worker_count = 1}, false);
    const char text[] = "text,label\ngood,1\nbad,0\n";
    ck_assert_msg(datasets_add(datasets, "mine", FORMAT_CSV, text, sizeof text - 1, "", &record, &error),
                  "%s", error.message);
    ck_assert_uint_eq(record.row_count, 2);
    ck_assert_uint_eq(record.class_count, 2);
    ck_assert_uint_eq(record.word_count, 2);
    dataset_record_clear(&record);
    struct data_source source = datasets_source(datasets);
    const struct dataset *first = source.find_dataset(source.owner, "mine", &error);
    const struct dataset *second = source.find_dataset(source.owner, "mine", &error);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_eq(first, second);
    ck_assert(datasets_delete(datasets, "mine", &users, &error));
    ck_assert_uint_eq(first->row_count, 2);
    source.release_dataset(source.owner, first);
    source.release_dataset(source.owner, second);
    ck_assert_ptr_null(source.find_dataset(source.owner, "mine", &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    close_all();
}
END_TEST

static void add_dataset(const char *name, const char *text, char digest[DATASET_DIGEST_SIZE]) {
    struct dataset_record record;
    error = (struct error){0};
    ck_assert_msg(datasets_add(datasets, name, FORMAT_CSV, text, strlen(text), "", &record, &error), "%s",
                  error.message);
    memcpy(digest, record.digest, DATASET_DIGEST_SIZE);
    dataset_record_clear(&record);
}

/* Looks for the data set "mine" of a run with this digest; returns the number of its rows, or 0. */
static size_t find_of_run(const char *digest) {
    struct dataset_choice choice = {datasets, true, digest};
    struct data_source source = datasets_source_of_run(&choice);
    struct error failure = {0};
    error = (struct error){0};
    const struct dataset *found = source.find_dataset(source.owner, "mine", &error);
    size_t rows = found != NULL ? found->row_count : 0;
    if (found != NULL)
        source.release_dataset(source.owner, found);
    /* The check without reading agrees, but lets a task that attnlab draws pass. */
    bool is_there = datasets_check_choice(&choice, "mine", &failure);
    ck_assert(is_there == (found != NULL || error.code == ERROR_MISSING));
    return rows;
}

/* Times decide nothing: the clock may have been set back since. */
START_TEST(a_run_holds_its_data_set_by_contents) {
    const char *three = "text,label\na,1\nb,0\nc,0\n", *two = "text,label\na,1\nb,0\n";
    char first[DATASET_DIGEST_SIZE], second[DATASET_DIGEST_SIZE], again[DATASET_DIGEST_SIZE];
    struct run_ids users;
    open_all((struct runs_options){.worker_count = 1}, false);
    add_dataset("mine", three, first);
    ck_assert_uint_eq(find_of_run(first), 3);
    ck_assert(datasets_delete(datasets, "mine", &users, &error));
    ck_assert_uint_eq(find_of_run(first), 0);
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(error.message, "mine was deleted; add the same file again"));
    add_dataset("mine", two, second);
    ck_assert_uint_eq(find_of_run(first), 0);
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    ck_assert_ptr_nonnull(strstr(error.message, "other contents"));
    add_dataset("other", three, again);
    ck_assert_str_eq(first, again);
    ck_assert_uint_eq(find_of_run(first), 3);
    ck_assert_uint_eq(find_of_run(second), 2);
    close_all();
}
END_TEST

/* A task that attnlab draws may have the name of a data set: of an older one, or of a deleted one. */
START_TEST(a_run_without_a_data_set_finds_none) {
    char digest[DATASET_DIGEST_SIZE];
    open_all((struct runs_options){.worker_count = 1}, false);
    ck_assert_uint_eq(find_of_run(NULL), 0);
    ck_assert_int_eq(error.code, ERROR_MISSING);
    add_dataset("mine", "text,label\na,1\nb,0\n", digest);
    ck_assert_uint_eq(find_of_run(""), 0);
    ck_assert_int_eq(error.code, ERROR_MISSING);
    ck_assert_uint_eq(find_of_run(NULL), 0);
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
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
        ck_assert(!source.find_file(source.owner, bad[i], &error));
    }
    error = (struct error){0};
    ck_assert(!source.read_file(source.owner, "images.gz", &bytes, &size, &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    error = (struct error){0};
    ck_assert(!source.find_file(source.owner, "images.gz", &error));
    ck_assert_int_eq(error.code, ERROR_MISSING);
    snprintf(path, sizeof path, "%s/images.gz", fixture_directory);
    FILE *file = fopen(path, "w");
    fputs("abc", file);
    fclose(file);
    ck_assert(source.find_file(source.owner, "images.gz", &error));
    ck_assert(source.read_file(source.owner, "images.gz", &bytes, &size, &error));
    ck_assert_uint_eq(size, 3);
    ck_assert_mem_eq(bytes, "abc", 3);
    free(bytes);
    close_all();
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, data_sets_are_parsed_once_and_shared);
    tcase_add_test(tests, a_run_holds_its_data_set_by_contents);
    tcase_add_test(tests, a_run_without_a_data_set_finds_none);
    tcase_add_test(tests, files_have_plain_names);
}
