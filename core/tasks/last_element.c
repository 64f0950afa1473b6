/* The chapter's task turned round: is the last number of a long sequence above zero?
 *
 * Everything before the last step is noise, so a model that reads in order needs no memory. */
#include "core/tasks/sign_task.h"

static size_t last_step(size_t length) {
    return length - 1;
}

static struct task *open_task(const struct task_request *request, struct error *error) {
    return sign_task_open(request, last_step, error);
}

const struct task_maker task_last_element = {
    .name = "last-element",
    .summary = "standard normal numbers, labelled by the sign of the last one",
    .draws_in_order = true,
    .describe = sign_task_describe,
    .open = open_task,
};
