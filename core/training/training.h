/* The training loop: epochs of steps of Adam on the batch's mean cross-entropy.
 *
 * Everything a run touches lies in one arena that is sized before the first step; a step allocates nothing.
 * After every epoch the listener gets the metrics, the weights and a checkpoint; a run that goes on from one
 * ends with the bits of an uninterrupted run. Cancelling takes effect within one step.
 *
 * May call model, tasks, parameters, math and random. Called by experiments, and by the server for
 * inspections. */
#ifndef ATTNLAB_CORE_TRAINING_TRAINING_H
#define ATTNLAB_CORE_TRAINING_TRAINING_H

#include "core/model/model.h"
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
    double learning_rate;
    const struct stop_request *stop; /* asked while the weights are drawn; NULL: never */
};

struct training_outcome {
    double test_accuracy;
    double train_loss; /* of the last epoch */
    double seconds;    /* of training, those before an interruption included */
    size_t steps;
};

struct training;

/* Bytes that training would take for `train_examples` examples; SIZE_MAX where that overflows. The tokens or
 * numbers themselves are the task's. */
size_t training_memory_size(const struct model *model, size_t train_examples, size_t batch_size);

/* Draws the initial weights. Returns NULL on failure. Free with training_free. */
struct training *training_create(const struct training_settings *settings, struct error *error);
void training_free(struct training *training);

/* Trains, from host->checkpoint where there is one. Uses of the host: listener, stop,
 * seconds_now, parallel, checkpoint. ERROR_CANCELLED, ERROR_DIVERGED, ERROR_INVALID for a checkpoint of
 * something else, or what a listener set. */
bool training_run(struct training *training, const struct run_host *host, struct training_outcome *outcome,
                  struct error *error);

/* parameters[model->parameter_count]; they belong to the training. */
const float *training_parameters(const struct training *training);

#endif
