/* The task last-element against numpy. */
#include "core/tasks/dataset_parse.h"
#include "core/tasks/task.h"
#include "tests/reference/golden_last_element.h"
#include "tests/unit/main.h"

static struct task *open_task(struct task_request request) {
    request.name = "last-element";
    struct error error = {0};
    struct task *task = task_open(&request, NULL, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    return task;
}

START_TEST(values_and_labels_are_numpys) {
    struct task *task = open_task((struct task_request){
        .sequence_length = 7, .train_examples = 3, .test_examples = 1, .train_seed = 5});
    ck_assert_uint_eq(task->train.count, 3);
    ck_assert_mem_eq(task->train.values, golden_last_values, sizeof golden_last_values);
    for (size_t i = 0; i < 3; i++)
        ck_assert_int_eq(task->train.labels[i], golden_last_labels[i]);
    task_free(task);
}
END_TEST

START_TEST(test_labels_of_the_default_sizes_are_numpys) {
    struct task *task = open_task((struct task_request){.train_seed = 1, .test_seed = 2});
    ck_assert_uint_eq(task->sequence_length, 60);
    ck_assert_uint_eq(task->test.count, sizeof golden_last_test_labels - 1);
    for (size_t i = 0; i < task->test.count; i++)
        ck_assert_int_eq(task->test.labels[i], golden_last_test_labels[i] - '0');
    task_free(task);
}
END_TEST

/* A sequence of one step has the same first and last one. */
START_TEST(over_one_step_it_is_first_element) {
    struct task_request request = {.sequence_length = 1, .train_examples = 20, .test_examples = 1};
    struct task *last = open_task(request);
    request.name = "first-element";
    struct task *first = task_open(&request, NULL, NULL);
    ck_assert_ptr_nonnull(first);
    ck_assert_mem_eq(last->train.labels, first->train.labels, 20 * sizeof *last->train.labels);
    task_free(first);
    task_free(last);
}
END_TEST

static const struct dataset *find_given(void *owner, const char *name, struct error *error) {
    (void)owner;
    static const char table[] = "text,label\ngood,a\nbad,b\n";
    if (strcmp(name, "last-element") == 0)
        return dataset_parse_csv(table, sizeof table - 1, error);
    error_set(error, ERROR_MISSING, "there is no data set %s", name);
    return NULL;
}

static void release_given(void *owner, const struct dataset *dataset) {
    (void)owner;
    dataset_free((struct dataset *)dataset);
}

static const struct data_source given = {.find_dataset = find_given, .release_dataset = release_given};

/* Whoever uploaded a data set of this name before the task existed keeps it, and its runs stay what they
 * were.
 */
START_TEST(a_data_set_of_the_same_name_comes_first) {
    struct task_request request = {.name = "last-element", .train_examples = 1, .test_examples = 1};
    struct task_summary summary;
    struct error error = {0};
    ck_assert_msg(task_describe(&request, &given, &summary, &error), "%s", error.message);
    ck_assert_int_eq(summary.kind, DATASET_TEXT);
    struct task *task = task_open(&request, &given, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    ck_assert_int_eq(task->kind, DATASET_TEXT);
    task_free(task);
    request.name = "first-element";
    ck_assert_msg(task_describe(&request, &given, &summary, &error), "%s", error.message);
    ck_assert_int_eq(summary.kind, DATASET_NUMBERS);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, a_data_set_of_the_same_name_comes_first);
    tcase_add_test(tests, values_and_labels_are_numpys);
    tcase_add_test(tests, test_labels_of_the_default_sizes_are_numpys);
    tcase_add_test(tests, over_one_step_it_is_first_element);
}
