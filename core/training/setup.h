/* What the parameters of a `train` run describe: a task, a model for it, and how to train it.
 *
 * Used by the run itself and by an inspection of it, so that both mean the same. */
#ifndef ATTNLAB_CORE_TRAINING_SETUP_H
#define ATTNLAB_CORE_TRAINING_SETUP_H

#include "core/model/models.h"
#include "core/parameters/set.h"
#include "core/tasks/task.h"
#include "core/training/training.h"

/* The task that is asked for; parameters that are not set yet are zero in it. Borrows the name. */
struct task_request setup_task_request(const struct parameter_set *parameters);

/* The model for a task of these sizes. */
struct model setup_model(const struct parameter_set *parameters, size_t sequence_length, size_t class_count,
                         size_t vocabulary_size);

/* Bytes that the task and its training would take; `model` becomes the model. Allocates nothing; SIZE_MAX if
 * it overflows. */
size_t setup_memory_size(const struct parameter_set *parameters, const struct task_summary *summary,
                         struct model *model);

struct setup {
    struct task *task;
    struct model model;
};

/* Opens the task and builds the model. Free with setup_close. `stop` may be NULL; ERROR_CANCELLED once it is
 * requested. */
bool setup_open(struct setup *setup, const struct parameter_set *parameters, const struct data_source *data,
                const struct stop_request *stop, struct error *error);
void setup_close(struct setup *setup);

/* On text a run goes over its examples as the lab's loop does, on numbers as the chapter's. */
struct training_settings setup_training_settings(const struct setup *setup,
                                                 const struct parameter_set *parameters,
                                                 const struct stop_request *stop);

#endif
