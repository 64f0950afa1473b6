/* The training loop: each epoch takes an optimiser's steps on the batch's mean cross-entropy.
 *
 * All memory of a run is one arena that is sized before the first step; a step allocates nothing. After every
 * epoch the listener gets the metrics, the weights and a checkpoint. A run that continues from a checkpoint
 * ends with the same bits as an uninterrupted one. Cancelling takes effect within one step.
 *
 * May call model, tasks, parameters, math and random. Called by experiments, and by the server for
 * inspections. */
#ifndef ATTNLAB_CORE_TRAINING_TRAINING_H
#define ATTNLAB_CORE_TRAINING_TRAINING_H

#include "core/model/model.h"
#include "core/model/optimizers.h"
#include "core/random/torch_loader.h"
#include "core/tasks/task.h"
#include "core/training/run_host.h"

/* `model` and `task` are borrowed and must outlive the training. */
struct training_settings {
    const struct model *model;
    const struct task *task;
    uint64_t seed; /* of the weights and of the batch order */
    enum torch_loader_order order;
    size_t epochs, batch_size;
    struct optimizer_settings optimizer;
    const struct stop_request *stop; /* checked while the weights are drawn; may be NULL */
};

struct training_outcome {
    double test_accuracy;
    double train_loss; /* of the last epoch */
    double seconds;    /* of training, including those before an interruption */
    size_t steps;
};

struct training;

/* Returns the bytes that training on `train_examples` examples would take, without the task's tokens or
 * numbers; SIZE_MAX if that overflows. */
size_t training_memory_size(const struct model *model, size_t train_examples, size_t batch_size);

/* Draws the initial weights. Returns NULL on failure. Free with training_free. */
struct training *training_create(const struct training_settings *settings, struct error *error);
void training_free(struct training *training);

/* Trains, continuing from host->checkpoint if there is one. Fails with ERROR_CANCELLED, ERROR_DIVERGED,
 * ERROR_INVALID for a checkpoint that does not fit, or the error that a listener set. */
bool training_run(struct training *training, const struct run_host *host, struct training_outcome *outcome,
                  struct error *error);

/* Returns parameters[model->parameter_count]; the training owns them. */
const float *training_parameters(const struct training *training);

#endif
