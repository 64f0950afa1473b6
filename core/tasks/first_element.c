/* The chapter's task: is the first number of a long sequence above zero?
 *
 * numpy.random.default_rng(seed).normal(0, 1, (n, T, 1)) as float32; the label is 1 if x[0] > 0. Everything
 * after the first step is noise, so a model must carry one bit over the whole length. */
#include "core/random/numpy_random.h"
#include "core/tasks/task.h"

#include <stdlib.h>

enum { DEFAULT_LENGTH = 60, DEFAULT_TRAIN = 2000, DEFAULT_TEST = 600 };

static const char *const class_names[] = {"0", "1"};

static void describe(const struct task_request *request, struct task_summary *summary) {
    *summary = (struct task_summary){
        .kind = DATASET_NUMBERS,
        .sequence_length = request->sequence_length > 0 ? request->sequence_length : DEFAULT_LENGTH,
        .train_examples = request->train_examples > 0 ? request->train_examples : DEFAULT_TRAIN,
        .test_examples = request->test_examples > 0 ? request->test_examples : DEFAULT_TEST,
        .sequence_length_maximum = SIZE_MAX,
        .example_maximum = SIZE_MAX,
        .class_count = 2,
    };
}

static bool draw(struct example_set *set, size_t count, size_t length, uint64_t seed,
                 const struct stop_request *stop, struct error *error) {
    float *values = calloc(count * length, sizeof *values);
    int32_t *labels = calloc(count, sizeof *labels);
    *set = (struct example_set){.count = count, .values = values, .labels = labels};
    if (values == NULL || labels == NULL)
        return error_set_memory(error, count * (length * sizeof *values + sizeof *labels));
    struct numpy_generator generator;
    numpy_generator_seed(&generator, seed);
    for (size_t i = 0; i < count; i++) {
        if (stop_is_requested(stop))
            return error_set(error, ERROR_CANCELLED, "the run was cancelled");
        for (size_t t = 0; t < length; t++)
            values[i * length + t] = (float)numpy_standard_normal(&generator);
        labels[i] = values[i * length] > 0;
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

static struct task *open_task(const struct task_request *request, struct error *error) {
    struct task_summary summary;
    describe(request, &summary);
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
    if (!draw(&task->train, summary.train_examples, task->sequence_length, request->train_seed, request->stop,
              error) ||
        !draw(&task->test, summary.test_examples, task->sequence_length, request->test_seed, request->stop,
              error)) {
        destroy(task);
        return NULL;
    }
    return task;
}

const struct task_maker task_first_element = {
    .name = "first-element",
    .summary = "standard normal numbers, labelled by the sign of the first one",
    .describe = describe,
    .open = open_task,
};
