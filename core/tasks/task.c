/* Tasks by name: the drawn ones in a table, behind any other name the user's data set. See task.h. */
#include "core/tasks/task.h"

#include <string.h>

static const struct task_maker *const makers[] = {&task_first_element};

static const struct task_maker *find_maker(const char *name) {
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        if (strcmp(makers[i]->name, name) == 0)
            return makers[i];
    return NULL;
}

static bool set_missing(const char *name, struct error *error) {
    return error_set(error, ERROR_MISSING, "there is no task or data set named \"%.100s\"", name);
}

bool task_describe(const struct task_request *request, const struct data_source *data,
                   struct task_summary *summary, struct error *error) {
    (void)data;
    const struct task_maker *maker = find_maker(request->name);
    if (maker == NULL)
        return set_missing(request->name, error);
    maker->describe(request, summary);
    return true;
}

struct task *task_open(const struct task_request *request, const struct data_source *data,
                       struct error *error) {
    (void)data;
    const struct task_maker *maker = find_maker(request->name);
    if (maker == NULL) {
        set_missing(request->name, error);
        return NULL;
    }
    return maker->open(request, error);
}

void task_free(struct task *task) {
    if (task != NULL)
        task->destroy(task);
}
