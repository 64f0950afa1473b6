/* Tasks by name: the drawn ones are in a table; any other name is that of a user's data set. See task.h. */
#include "core/tasks/task.h"

#include <string.h>

#define TASK_ADDRESS(word) &task_##word,
const struct task_maker *const task_makers[] = {TASK_TABLE(TASK_ADDRESS) NULL};

const struct task_maker *task_maker_find(const char *name) {
    for (size_t i = 0; task_makers[i] != NULL; i++)
        if (strcmp(task_makers[i]->name, name) == 0)
            return task_makers[i];
    return NULL;
}

/* The user's data set of that name, to be released after use; NULL with an error if there is none. */
static const struct dataset *find_dataset(const char *name, const struct data_source *data,
                                          struct error *error) {
    if (data != NULL && data->find_dataset != NULL)
        return data->find_dataset(data->owner, name, error);
    error_set(error, ERROR_MISSING, "there is no task or data set named \"%.100s\"", name);
    return NULL;
}

static void release(const struct dataset *dataset, const struct data_source *data) {
    if (data->release_dataset != NULL)
        data->release_dataset(data->owner, dataset);
}

bool task_describe(const struct task_request *request, const struct data_source *data,
                   struct task_summary *summary, struct error *error) {
    const struct task_maker *maker = task_maker_find(request->name);
    if (maker != NULL) {
        maker->describe(request, summary);
        return true;
    }
    const struct dataset *dataset = find_dataset(request->name, data, error);
    if (dataset == NULL)
        return false;
    bool ok = dataset_task_describe(request, dataset, summary, error);
    release(dataset, data);
    return ok;
}

struct task *task_open(const struct task_request *request, const struct data_source *data,
                       struct error *error) {
    const struct task_maker *maker = task_maker_find(request->name);
    if (maker != NULL)
        return maker->open(request, error);
    const struct dataset *dataset = find_dataset(request->name, data, error);
    if (dataset == NULL)
        return NULL;
    struct task *task = dataset_task_open(request, dataset, error);
    release(dataset, data);
    return task;
}

void task_free(struct task *task) {
    if (task != NULL)
        task->destroy(task);
}
