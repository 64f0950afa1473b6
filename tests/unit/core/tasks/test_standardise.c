/* Standardised columns, against numpy's numbers, and a task that has them. */
#include "core/tasks/dataset_parse.h"
#include "core/tasks/task.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

/* The last row is the test row; the columns: close together and large, constant, small. */
static const char file[] = "a,b,c,label\n100000,7,1,x\n100100,7,2,y\n100200,7,4,x\n100500,8,-3,y\n";

/* numpy: (rows - train.mean(0)) / numpy.where(train.std(0) > 0, train.std(0), 1), as float32 */
static const float expected[] = {-1.22474492F, 0, -1.06904495F, 0,           0, -0.267261237F,
                                 1.22474492F,  0, 1.33630621F,  4.89897966F, 1, -4.27617979F};

static struct dataset *parse(const char *bytes) {
    struct error error = {0};
    struct dataset *dataset = dataset_parse_csv(bytes, strlen(bytes), &error);
    ck_assert_msg(dataset != NULL, "%s", error.message);
    return dataset;
}

START_TEST(training_rows_decide_and_test_rows_follow) {
    struct dataset *dataset = parse(file);
    struct task_request request = {.train_examples = 3, .test_examples = 1, .standardise = true};
    struct error error = {0};
    struct task *task = dataset_task_open(&request, dataset, &error);
    ck_assert_msg(task != NULL, "%s", error.message);
    dataset_free(dataset);
    ck_assert_mem_eq(task->train.values, expected, 9 * sizeof(float));
    ck_assert_mem_eq(task->test.values, expected + 9, 3 * sizeof(float));
    float other[] = {100100, 7};
    standardise_apply(task->standardisation, other, 1, 2);
    ck_assert(other[0] == 0 && other[1] == 0);
    char *note = standardise_describe(task->standardisation);
    ck_assert_str_eq(note, "{\"standardise_mean\":\"[100100,7,2.3333333333333335]\","
                           "\"standardise_deviation\":\"[81.649658092772611,1,1.247219128924647]\"}");
    free(note);
    task_free(task);
}
END_TEST

START_TEST(numbers_stay_as_they_are_unless_asked) {
    struct dataset *dataset = parse(file);
    struct task_request request = {.train_examples = 3, .test_examples = 1};
    struct task *task = dataset_task_open(&request, dataset, NULL);
    ck_assert_ptr_null(task->standardisation);
    ck_assert_mem_eq(task->train.values, dataset->values, 9 * sizeof(float));
    dataset_free(dataset);
    task_free(task);
}
END_TEST

START_TEST(only_given_numbers_may_be_standardised) {
    struct dataset *numbers = parse(file), *text = parse("text,label\ngood,1\nbad,0\n");
    struct task_request request = {0};
    struct task_summary summary;
    ck_assert(dataset_task_describe(&request, numbers, &summary, NULL) && summary.may_standardise);
    ck_assert(dataset_task_describe(&request, text, &summary, NULL) && !summary.may_standardise);
    for (size_t i = 0; task_makers[i] != NULL; i++) {
        task_makers[i]->describe(&request, &summary);
        ck_assert(!summary.may_standardise);
    }
    dataset_free(numbers);
    dataset_free(text);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, training_rows_decide_and_test_rows_follow);
    tcase_add_test(tests, numbers_stay_as_they_are_unless_asked);
    tcase_add_test(tests, only_given_numbers_may_be_standardised);
}
