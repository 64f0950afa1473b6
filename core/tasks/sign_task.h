/* Tasks on drawn numbers whose label is the sign of one step; everything else is noise.
 *
 * numpy.random.default_rng(seed).normal(0, 1, (n, T, 1)) as float32; the label is 1 if x[deciding step] > 0.
 */
#ifndef ATTNLAB_CORE_TASKS_SIGN_TASK_H
#define ATTNLAB_CORE_TASKS_SIGN_TASK_H

#include "core/tasks/task.h"

/* The chapter's sizes. */
enum {
    SIGN_TASK_DEFAULT_LENGTH = 60,
    SIGN_TASK_DEFAULT_TRAIN_EXAMPLES = 2000,
    SIGN_TASK_DEFAULT_TEST_EXAMPLES = 600
};

/* As task_maker.describe and task_maker.open. `deciding_step` is below the length it is given. */
void sign_task_describe(const struct task_request *request, struct task_summary *summary);
struct task *sign_task_open(const struct task_request *request, size_t (*deciding_step)(size_t length),
                            struct error *error);

#endif
