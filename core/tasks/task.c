/* Tasks by name: that of a user's data set, or of a drawn task in the table. See task.h. */
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

/* What a name stands for: one of the two. */
struct named_task {
    const struct task_maker *maker;
    const struct dataset *dataset; /* to be released after use */
};

/* Looks for a data set first: the user may have given it before attnlab drew a task of that name. */
static bool find(const char *name, const struct data_source *data, struct named_task *found,
                 struct error *error) {
    struct error failure = {0};
    *found = (struct named_task){0};
    if (data != NULL && data->find_dataset != NULL)
        found->dataset = data->find_dataset(data->owner, name, &failure);
    else
        error_set(&failure, ERROR_MISSING, "there is no task or data set named \"%.100s\"", name);
    if (found->dataset == NULL && failure.code == ERROR_MISSING)
        found->maker = task_maker_find(name);
    if (found->dataset == NULL && found->maker == NULL)
        return error_set(error, failure.code, "%s", failure.message);
    return true;
}

static void release(const struct dataset *dataset, const struct data_source *data) {
    if (data->release_dataset != NULL)
        data->release_dataset(data->owner, dataset);
}

bool task_describe(const struct task_request *request, const struct data_source *data,
                   struct task_summary *summary, struct error *error) {
    struct named_task found;
    if (!find(request->name, data, &found, error))
        return false;
    if (found.maker != NULL) {
        found.maker->describe(request, summary);
        return true;
    }
    bool ok = dataset_task_describe(request, found.dataset, summary, error);
    release(found.dataset, data);
    return ok;
}

struct task *task_open(const struct task_request *request, const struct data_source *data,
                       struct error *error) {
    struct named_task found;
    if (!find(request->name, data, &found, error))
        return NULL;
    if (found.maker != NULL)
        return found.maker->open(request, error);
    struct task *task = dataset_task_open(request, found.dataset, error);
    release(found.dataset, data);
    return task;
}

void task_free(struct task *task) {
    if (task != NULL)
        task->destroy(task);
}
