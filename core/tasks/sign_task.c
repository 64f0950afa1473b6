/* Drawn numbers, labelled by a sign: see sign_task.h. */
#include "core/tasks/sign_task.h"

#include "core/random/numpy_random.h"

#include <stdlib.h>

static const char *const class_names[] = {"0", "1"};

void sign_task_describe(const struct task_request *request, struct task_summary *summary) {
    *summary = (struct task_summary){
        .kind = DATASET_NUMBERS,
        .sequence_length = request->sequence_length > 0 ? request->sequence_length : SIGN_TASK_DEFAULT_LENGTH,
        .train_examples =
            request->train_examples > 0 ? request->train_examples : SIGN_TASK_DEFAULT_TRAIN_EXAMPLES,
        .test_examples =
            request->test_examples > 0 ? request->test_examples : SIGN_TASK_DEFAULT_TEST_EXAMPLES,
        .sequence_length_maximum = SIZE_MAX,
        .example_maximum = SIZE_MAX,
        .class_count = 2,
    };
    double rows = (double)summary->train_examples + (double)summary->test_examples;
    double steps = (double)summary->sequence_length;
    summary->memory_bytes = rows * (steps * sizeof(float) + sizeof(int32_t));
    summary->draws = rows * steps;
}

static bool draw(struct example_set *set, size_t count, size_t length, size_t deciding, uint64_t seed,
                 const struct stop_request *stop, struct error *error) {
    float *values = calloc(count * length, sizeof *values);
    int32_t *labels = calloc(count, sizeof *labels);
    *set = (struct example_set){.count = count, .values = values, .labels = labels};
    if (values == NULL || labels == NULL)
        return error_set_memory(error, count * (length * sizeof *values + sizeof *labels));
    struct numpy_generator generator;
    numpy_generator_seed(&generator, seed);
    for (size_t i = 0; i < count; i++) {
        if (!stop_check(stop, error))
            return false;
        for (size_t t = 0; t < length; t++)
            values[i * length + t] = (float)numpy_standard_normal(&generator);
        labels[i] = values[i * length + deciding] > 0;
    }
    return true;
}

static void destroy(struct task *task) {
    free((void *)task->train.values);
    free((void *)task->train.labels);
    free((void *)task->test.values);
    free((void *)task->test.labels);
    free(task);
}

struct task *sign_task_open(const struct task_request *request, size_t (*deciding_step)(size_t length),
                            struct error *error) {
    struct task_summary summary;
    sign_task_describe(request, &summary);
    struct task *task = calloc(1, sizeof *task);
    if (task == NULL) {
        error_set_memory(error, sizeof *task);
        return NULL;
    }
    *task = (struct task){.kind = DATASET_NUMBERS,
                          .sequence_length = summary.sequence_length,
                          .class_count = summary.class_count,
                          .class_names = class_names,
                          .destroy = destroy};
    size_t deciding = deciding_step(task->sequence_length);
    if (!draw(&task->train, summary.train_examples, task->sequence_length, deciding, request->train_seed,
              request->stop, error) ||
        !draw(&task->test, summary.test_examples, task->sequence_length, deciding, request->test_seed,
              request->stop, error)) {
        destroy(task);
        return NULL;
    }
    return task;
}
