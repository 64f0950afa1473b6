/* The chapter's task: is the first number of a long sequence above zero?
 *
 * Everything after the first step is noise, so a model must carry one bit over the whole length. */
#include "core/tasks/sign_task.h"

static size_t first_step(size_t length) {
    (void)length;
    return 0;
}

static struct task *open_task(const struct task_request *request, struct error *error) {
    return sign_task_open(request, first_step, error);
}

const struct task_maker task_first_element = {
    .name = "first-element",
    .summary = "standard normal numbers, labelled by the sign of the first one",
    .draws_in_order = true,
    .describe = sign_task_describe,
    .open = open_task,
};
