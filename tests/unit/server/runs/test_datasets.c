/* The data source for runs: data sets in the store, files in the data directory. */
#include "core/tasks/dataset.h"
#include "tests/unit/main.h"
#include "tests/unit/server/runs/runs_fixture.h"

START_TEST(data_sets_are_parsed_once_and_shared) {
    struct dataset_record record;
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
    tcase_add_test(tests, files_have_plain_names);
}
