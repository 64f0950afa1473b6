/* Options: the table's defaults apply, the environment overrides them, and the command line overrides both.
 */
#include "server/system/options.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

static struct options options;
static struct error error;

static void setup(void) {
    error = (struct error){0};
    clearenv();
}

static bool read_arguments(char *const *arguments) {
    int count = 0;
    while (arguments[count] != NULL)
        count++;
    return options_read(&options, count, arguments, &error);
}

#define READ(...) read_arguments((char *const[]){__VA_ARGS__, NULL})

START_TEST(defaults_apply_unless_overridden) {
    ck_assert_msg(options_read(&options, 0, NULL, &error), "%s", error.message);
    ck_assert_str_eq(options.listen, "127.0.0.1:8080");
    ck_assert_str_eq(options.data, "./.local/share/attnlab");
    ck_assert_uint_eq(options.workers, 0);
    ck_assert_ptr_null(options.web);
    ck_assert_int_eq(options.access, ACCESS_LOCAL);
    ck_assert_int_eq(options.students, STUDENTS_NONE);
    ck_assert_uint_eq(options.student_limits.queued_runs, 20);
    ck_assert_uint_eq(options.student_limits.all_data_mb, 400);
    ck_assert(!options.is_behind_proxy);
    ck_assert_uint_eq(options.connections, 4000);
    ck_assert_uint_eq(options.idle_timeout, 60);
    ck_assert_int_eq(options.log_level, LOG_WARNING);
}
END_TEST

START_TEST(the_command_line_overrides_the_environment_and_both_override_defaults) {
    setenv("ATTNLAB_STUDENT_EPOCHS", "7", 1);
    setenv("ATTNLAB_STUDENT_WIDTH", "8", 1);
    setenv("ATTNLAB_STUDENT_EXAMPLES", "", 1);
    setenv("ATTNLAB_LISTEN", "127.0.0.1:9000", 1);
    ck_assert_msg(READ("--student-epochs", "9", "--access=token", "--students", "read"), "%s", error.message);
    ck_assert_uint_eq(options.student_limits.epochs, 9);
    ck_assert_uint_eq(options.student_limits.width, 8);
    ck_assert_uint_eq(options.student_limits.examples, 20000);
    ck_assert_int_eq(options.access, ACCESS_TOKEN);
    ck_assert_int_eq(options.students, STUDENTS_READ);
    ck_assert_str_eq(options_environment_value("listen"), "127.0.0.1:9000");
    unsetenv("ATTNLAB_LISTEN");
    ck_assert_str_eq(options_environment_value("listen"), "127.0.0.1:8080");
    ck_assert_ptr_null(options_environment_value("host"));
}
END_TEST

START_TEST(faults_name_the_option_and_its_values) {
    static const struct {
        const char *option, *value, *message;
    } faults[] = {
        {"--listen", "nowhere", "--listen must be address:port, like 127.0.0.1:8080; got \"nowhere\""},
        {"--access", "local", "--access must be one of open, token; got \"local\""},
        {"--students", "all", "--students must be one of none, read, run; got \"all\""},
        {"--log-level", "loud", "--log-level must be one of error, warning, info, debug; got \"loud\""},
        {"--workers", "0", "--workers must be a whole number from 1 to 256; got \"0\""},
        {"--connections", "8x", "--connections must be a whole number from 8 to 100000; got \"8x\""},
        {"--students", NULL, "--students needs a value: none|read|run"},
        {"--data", NULL, "--data needs a value: DIR"},
        {"--students", "run", "--token-file and --students work only with --access token"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        error = (struct error){0};
        ck_assert(!READ((char *)faults[i].option, (char *)faults[i].value));
        ck_assert_str_eq(error.message, faults[i].message);
    }
    ck_assert(!READ("--nonsense", "1"));
}
END_TEST

START_TEST(the_help_shows_the_actual_defaults) {
    char *help = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&help, &size);
    options_write_help(file);
    fclose(file);
    ck_assert_ptr_nonnull(strstr(help, "--student-epochs N\n"));
    ck_assert_ptr_nonnull(strstr(help, "the most epochs in a student's run (default: 200)\n"));
    ck_assert_ptr_nonnull(strstr(help, "--students none|read|run\n"));
    ck_assert_ptr_nonnull(strstr(help, "--access open|token\n"));
    ck_assert_ptr_nonnull(strstr(help, "(default: one per core)\n"));
    free(help);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, defaults_apply_unless_overridden);
    tcase_add_test(tests, the_command_line_overrides_the_environment_and_both_override_defaults);
    tcase_add_test(tests, faults_name_the_option_and_its_values);
    tcase_add_test(tests, the_help_shows_the_actual_defaults);
}
