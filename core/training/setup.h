/* Sets up what the parameters of a `train` run describe: a task, a model and the settings of the training.
 *
 * The run and an inspection of it both use this, so they get the same task and model. */
#ifndef ATTNLAB_CORE_TRAINING_SETUP_H
#define ATTNLAB_CORE_TRAINING_SETUP_H

#include "core/model/models.h"
#include "core/parameters/set.h"
#include "core/tasks/task.h"
#include "core/training/training.h"

/* Returns the requested task; parameters that are not set are 0 in it. Borrows the name. A run stored by a
 * version that had no parameter `vocabulary` counted the words of its training rows. */
struct task_request setup_task_request(const struct parameter_set *parameters);

/* The choices of `vocabulary`, NULL-terminated, in the order of enum task_vocabulary. */
extern const char *const setup_vocabulary_choices[];

/* Builds the model for a task of these sizes. */
struct model setup_model(const struct parameter_set *parameters, size_t sequence_length, size_t class_count,
                         size_t vocabulary_size);

/* Returns the bytes that the task and its training would take, and stores the model in *model. Allocates
 * nothing. */
double setup_memory_size(const struct parameter_set *parameters, const struct task_summary *summary,
                         struct model *model);

/* Returns the bytes that a task of these sizes takes; SIZE_MAX if that overflows. */
size_t setup_task_memory_size(const struct task_summary *summary);

struct setup {
    struct task *task;
    struct model model;
};

/* Opens the task and builds the model. Free with setup_close. `stop` may be NULL; ERROR_CANCELLED after a
 * stop request. */
bool setup_open(struct setup *setup, const struct parameter_set *parameters, const struct data_source *data,
                const struct stop_request *stop, struct error *error);
void setup_close(struct setup *setup);

/* For text, a run iterates over its examples like the lab's loop; for numbers, like the chapter's. */
struct training_settings setup_training_settings(const struct setup *setup,
                                                 const struct parameter_set *parameters,
                                                 const struct stop_request *stop);

#endif
