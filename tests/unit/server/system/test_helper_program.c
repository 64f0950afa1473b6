/* A helper may crash, hang, talk too much or take too much: the caller gets an error and lives on.
 *
 * The helpers are this program itself, started again with the name of what it is to do; so it has a main of
 * its own. */
#include "server/system/helper_program.h"
#include "server/system/sandbox.h"
#include "server/system/sanitizer.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK_SIZE = 4 << 20, BLOCKS = 64 };

static void write_out(const void *bytes, size_t size) {
    if (write(STDOUT_FILENO, bytes, size) != (ssize_t)size)
        _exit(EXIT_FAILURE);
}

static void crash(void) {
    write_out("before", 6);
    abort();
}

static void exit_with_failure(void) {
    _exit(3);
}

static void hang(void) {
    for (;;)
        pause();
}

static void hang_with_its_output_closed(void) {
    close(STDOUT_FILENO);
    hang();
}

static void write_on(void) {
    static const char words[1000];
    for (;;)
        write_out(words, sizeof words);
}

static bool has_descriptors(void) {
    bool is_any_open = false;
    for (int i = STDERR_FILENO + 1; i < 1000; i++)
        is_any_open |= fcntl(i, F_GETFD) >= 0;
    return is_any_open;
}

/* In capitals, so that it is seen to come from here. */
static void answer_in_capitals(void) {
    char bytes[100];
    ssize_t size = read(STDIN_FILENO, bytes, sizeof bytes);
    for (ssize_t i = 0; i < size; i++)
        bytes[i] = (char)(bytes[i] - ('a' - 'A'));
    write_out(bytes, (size_t)size);
}

/* Touches what it gets, so that it counts. A sanitizer's allocator ends the process by itself. */
static void take_memory(void) {
    for (size_t i = 0; i < BLOCKS; i++) {
        char *block = malloc(BLOCK_SIZE);
        if (block == NULL)
            abort();
        memset(block, 1, BLOCK_SIZE);
        write_out(block, 1);
    }
}

static void compute_on(void) {
    volatile unsigned long count = 0;
    for (;;)
        count++;
}

static void open_a_file(void) {
    FILE *file = fopen("/etc/passwd", "r");
    write_out(file == NULL && errno == EMFILE ? "no" : "yes", 2);
}

/* Names what this process has of its parent's: descriptors, environment or signal handling. */
static void tell_what_it_inherited(void) {
    if (getenv("ATTNLAB_SECRET") != NULL || getenv("PATH") != NULL)
        write_out("environment ", 12);
    if (signal(SIGPIPE, SIG_DFL) != SIG_DFL)
        write_out("signals ", 8);
    if (HELPER_PROGRAM_CLOSES_DESCRIPTORS && has_descriptors())
        write_out("descriptors ", 12);
    write_out(".", 1);
}

static void tell_whether_descriptors_are_open(void) {
    write_out(has_descriptors() ? "yes" : "no", 2);
}

static void tell_whether_others_can_look(void) {
    struct rlimit space;
    bool is_limited = IS_SANITIZED || (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY);
    write_out(is_limited && prctl(PR_GET_DUMPABLE) == 0 ? "no" : "yes", 2);
}

static const struct mode {
    const char *name;
    void (*act)(void);
} modes[] = {
    {"crash", crash},
    {"fail", exit_with_failure},
    {"hang", hang},
    {"hang-closed", hang_with_its_output_closed},
    {"write-on", write_on},
    {"take-memory", take_memory},
    {"compute-on", compute_on},
    {"capitals", answer_in_capitals},
    {"open", open_a_file},
    {"descriptors", tell_whether_descriptors_are_open},
    {"orphan", exit_with_failure},
    {"private", tell_whether_others_can_look},
};

/* "inherited" looks before the sandbox changes anything. The other modes open a descriptor that the sandbox
 * has to close. */
static int act_as_helper(const char *name) {
    const char *parent = getenv(HELPER_PROGRAM_PARENT);
    struct sandbox_limits limits = {.seconds = 1, .memory = 64 << 20, .parent = strtol(parent, NULL, 10)};
    if (strcmp(name, "inherited") == 0) {
        tell_what_it_inherited();
        return EXIT_SUCCESS;
    }
    if (dup(STDERR_FILENO) < 0)
        return EXIT_FAILURE;
    limits.parent += strcmp(name, "orphan") == 0; /* as if that process had ended */
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, name) != 0)
            continue;
        if (!sandbox_enter(&limits))
            return EXIT_FAILURE;
        modes[i].act();
        _exit(EXIT_SUCCESS);
    }
    return EXIT_FAILURE;
}

static struct helper_program program_of(const char *mode) {
    bool is_slow = strcmp(mode, "take-memory") == 0;
    return (struct helper_program){
        .path = "/proc/self/exe", .argument = mode, .seconds = is_slow ? 60 : 3, .answer = 100000};
}

/* No child is left, not even a dead one. */
static void assert_no_children(void) {
    ck_assert(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void assert_answer(const char *mode, const char *expected) {
    struct helper_program program = program_of(mode);
    struct error error = {0};
    void *answer = NULL;
    size_t size = 0;
    ck_assert_msg(helper_program_run(&program, "words", 5, NULL, &answer, &size, &error), "%s: %s", mode,
                  error.message);
    ck_assert_uint_eq(size, strlen(expected));
    ck_assert_int_eq(memcmp(answer, expected, size), 0);
    free(answer);
    assert_no_children();
}

/* A sanitizer's allocator ends the process by itself, with a status of its own. */
static const struct {
    const char *mode, *message;
} failures[] = {
    {"crash", "the reader crashed (signal 6)"},
    {"fail", "the reader ended with status 3"},
    {"hang", "the reader took too much time"},
    {"hang-closed", "the reader took too much time"},
    {"write-on", "the reader's answer is too long"},
    {"take-memory", IS_SANITIZED ? "the reader " : "the reader crashed (signal 6), perhaps for lack"},
    {"compute-on", "the reader took too much time"},
    {"orphan", "the reader ended with status 1"},
    {"no-such-mode", "the reader ended with status 1"}};

START_TEST(helpers_that_fail_become_errors) {
    struct helper_program program = program_of(failures[_i].mode);
    struct error error = {0};
    void *answer = NULL;
    size_t size = 0;
    ck_assert(!helper_program_run(&program, "words", 5, NULL, &answer, &size, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_msg(strncmp(error.message, failures[_i].message, strlen(failures[_i].message)) == 0, "%s: %s",
                  failures[_i].mode, error.message);
    ck_assert_ptr_null(answer);
    assert_no_children();
}
END_TEST

START_TEST(helpers_answer) {
    assert_answer("capitals", "WORDS");
}
END_TEST

START_TEST(helpers_open_no_file) {
    assert_answer("open", "no");
}
END_TEST

START_TEST(nobody_looks_into_a_helper_whose_space_is_limited) {
    assert_answer("private", "no");
}
END_TEST

START_TEST(helpers_inherit_nothing) {
    int descriptor = open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a library may open it */
    ck_assert_int_ge(descriptor, 0);
    ck_assert_int_eq(setenv("ATTNLAB_SECRET", "1", 1), 0);
    signal(SIGPIPE, SIG_IGN);
    assert_answer("inherited", ".");
    close(descriptor);
}
END_TEST

START_TEST(the_sandbox_closes_descriptors) {
    assert_answer("descriptors", "no");
}
END_TEST

/* Asked for the second time. */
static bool stop_soon(void *owner) {
    return atomic_fetch_add((atomic_int *)owner, 1) > 0;
}

START_TEST(a_request_to_stop_ends_a_helper) {
    atomic_int asked = 0;
    const struct stop_request stop = {.is_requested = stop_soon, .owner = &asked};
    struct helper_program program = program_of("hang");
    struct error error = {0};
    void *answer = NULL;
    size_t size = 0;
    program.seconds = 3600;
    ck_assert(!helper_program_run(&program, "words", 5, &stop, &answer, &size, &error));
    ck_assert_int_eq(error.code, ERROR_CANCELLED);
    assert_no_children();
}
END_TEST

START_TEST(a_missing_helper_is_named) {
    struct helper_program program = {.path = "/no/such/helper", .seconds = 1, .answer = 1};
    struct error error = {0};
    void *answer = NULL;
    size_t size = 0;
    ck_assert(!helper_program_run(&program, "words", 5, NULL, &answer, &size, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
    ck_assert_str_eq(error.message, "cannot start /no/such/helper: No such file or directory");
    assert_no_children();
}
END_TEST

START_TEST(helpers_lie_beside_the_program) {
    char path[4096], own[4096], short_path[8];
    struct error error = {0};
    ck_assert(helper_program_find("attnlab-hdf5", path, sizeof path, &error));
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    ck_assert_int_gt(length, 0);
    own[length] = '\0';
    size_t folder = (size_t)(strrchr(own, '/') + 1 - own);
    ck_assert_int_eq(memcmp(path, own, folder), 0);
    ck_assert_str_eq(path + folder, "attnlab-hdf5");
    ck_assert(!helper_program_find("attnlab-hdf5", short_path, sizeof short_path, &error));
    ck_assert_int_eq(error.code, ERROR_UNAVAILABLE);
}
END_TEST

int main(int argument_count, char **arguments) {
    if (argument_count > 1)
        return act_as_helper(arguments[1]);
    Suite *suite = suite_create("helper program");
    TCase *cases = tcase_create("all");
    tcase_add_loop_test(cases, helpers_that_fail_become_errors, 0, sizeof failures / sizeof *failures);
    tcase_add_test(cases, helpers_answer);
    tcase_add_test(cases, helpers_open_no_file);
    tcase_add_test(cases, nobody_looks_into_a_helper_whose_space_is_limited);
    tcase_add_test(cases, helpers_inherit_nothing);
    tcase_add_test(cases, the_sandbox_closes_descriptors);
    tcase_add_test(cases, a_request_to_stop_ends_a_helper);
    tcase_add_test(cases, a_missing_helper_is_named);
    tcase_add_test(cases, helpers_lie_beside_the_program);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
