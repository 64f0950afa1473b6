/* The limit of the container, read from a faked /proc and /sys. */
#include "server/system/memory_limit.h"
#include "tests/unit/main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char root[64];

static void setup(void) {
    snprintf(root, sizeof root, "/tmp/attnlab-root-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void teardown(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *path, const char *text) {
    char command[512];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s%s')\" && printf '%s' > '%s%s'", root, path,
             text, root, path);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(without_control_groups_there_is_no_limit) {
    ck_assert(memory_limit_of_container(root) == ~0ull);
    write_file("/proc/self/cgroup", "0::/\\n");
    ck_assert(memory_limit_of_container(root) == ~0ull);
    write_file("/sys/fs/cgroup/memory.max", "max\\n");
    ck_assert(memory_limit_of_container(root) == ~0ull);
}
END_TEST

START_TEST(version_2_counts_the_group_and_those_above_it) {
    write_file("/proc/self/cgroup", "0::/system.slice/attnlab.service\\n");
    write_file("/sys/fs/cgroup/system.slice/attnlab.service/memory.max", "2000000\\n");
    ck_assert_uint_eq(memory_limit_of_container(root), 2000000);
    write_file("/sys/fs/cgroup/system.slice/memory.max", "1000000\\n");
    ck_assert_uint_eq(memory_limit_of_container(root), 1000000);
    write_file("/sys/fs/cgroup/memory.max", "500000\\n");
    ck_assert_uint_eq(memory_limit_of_container(root), 500000);
}
END_TEST

/* Docker shows a container its own group as the root, but names it by its path on the host. */
START_TEST(version_1_is_read_too) {
    write_file("/proc/self/cgroup", "12:cpu,cpuacct:/docker/1\\n4:memory:/docker/1\\n0::/docker/1\\n");
    write_file("/sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456\\n");
    ck_assert_uint_eq(memory_limit_of_container(root), 268435456);
    write_file("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "134217728\\n");
    ck_assert_uint_eq(memory_limit_of_container(root), 134217728);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, without_control_groups_there_is_no_limit);
    tcase_add_test(tests, version_2_counts_the_group_and_those_above_it);
    tcase_add_test(tests, version_1_is_read_too);
}
