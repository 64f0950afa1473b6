/* The main of every unit program. A test file includes this header and defines add_tests(), which registers
 * its tests, fixtures and time limits. It may also prepare data that all tests share, because each test runs
 * in a process that is forked after it. libcheck's environment variables work: CK_FORK=no,
 * CK_VERBOSITY=verbose, CK_TIMEOUT_MULTIPLIER; and ATTNLAB_KERNELS as in the program, with the status
 * EXIT_LACKS_KERNELS if the processor does not have them. */
#ifndef ATTNLAB_TESTS_UNIT_MAIN_H
#define ATTNLAB_TESTS_UNIT_MAIN_H

#include "core/math/lanes/sets.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_LACKS_KERNELS = 77 };

static void add_tests(TCase *tests);

/* The suite is named after the program. */
int main(int argc, char **argv) {
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    const char *name = slash == NULL ? "tests" : slash + 1;
    Suite *suite = suite_create(name);
    TCase *tests = tcase_create(name);
    const char *kernels = getenv("ATTNLAB_KERNELS");
    if (kernels != NULL && *kernels != '\0' && !lane_set_select(kernels)) {
        printf("this machine lacks %s\n", kernels);
        return EXIT_LACKS_KERNELS;
    }
    add_tests(tests);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
