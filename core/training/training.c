/* The training loop: see training.h. */
#include "core/training/training.h"

#include "core/math/matrix.h"
#include "core/model/optimizers.h"
#include "core/training/checkpoint.h"
#include "core/training/divergence.h"
#include "core/training/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct training {
    struct training_settings settings;
    struct arena arena;
    struct shards shards;
    float *parameters; /* followed by both moments: [3][parameter_count] in one block, as in a checkpoint */
    float *first_moment, *second_moment;
    size_t *order; /* of this epoch's examples */
    unsigned char *checkpoint;
    struct training_state state;
    double earlier_loss, latest_loss; /* see struct divergence */
};

static void lay_out(struct training *training, const struct model *model, size_t train_examples,
                    size_t batch_size, struct arena *arena) {
    size_t count = model->parameter_count;
    training->parameters = arena_floats(arena, 3 * count);
    if (training->parameters != NULL) {
        training->first_moment = training->parameters + count;
        training->second_moment = training->first_moment + count;
    }
    training->order = arena_allocate(arena, train_examples, sizeof *training->order);
    training->checkpoint = arena_allocate(arena, checkpoint_size(count), 1);
    shards_layout(&training->shards, model, batch_size, arena);
}

size_t training_memory_size(const struct model *model, size_t train_examples, size_t batch_size) {
    struct training sketch = {0};
    struct arena arena = arena_measuring();
    lay_out(&sketch, model, train_examples, batch_size, &arena);
    return arena.used;
}

struct training *training_create(const struct training_settings *settings, struct error *error) {
    size_t examples = settings->task->train.count;
    struct training *training = calloc(1, sizeof *training);
    if (training == NULL) {
        error_set_memory(error, sizeof *training);
        return NULL;
    }
    training->settings = *settings;
    size_t size = training_memory_size(settings->model, examples, settings->batch_size);
    if (!arena_init(&training->arena, size, error)) {
        training_free(training);
        return NULL;
    }
    lay_out(training, settings->model, examples, settings->batch_size, &training->arena);
    matrix_use_one_thread();
    struct torch_generator generator;
    torch_generator_seed(&generator, settings->seed);
    model_initialise(settings->model, training->parameters, &generator, settings->stop);
    torch_loader_init(&training->state.loader, settings->order, settings->seed, examples,
                      settings->batch_size);
    training->state.train_loss = (double)NAN;
    return training;
}

void training_free(struct training *training) {
    if (training == NULL)
        return;
    arena_free(&training->arena);
    free(training);
}

const float *training_parameters(const struct training *training) {
    return training->parameters;
}

static size_t steps_per_epoch(const struct training *training) {
    size_t examples = training->settings.task->train.count, batch_size = training->settings.batch_size;
    return (examples + batch_size - 1) / batch_size;
}

static bool all_finite(const float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool set_diverged(const struct training *training, const char *what, struct error *error) {
    const struct training_state *state = &training->state;
    const struct task *task = training->settings.task;
    struct divergence divergence = {.what = what,
                                    .step = state->step,
                                    .epoch = (state->step - 1) / steps_per_epoch(training) + 1,
                                    .earlier = training->earlier_loss,
                                    .latest = training->latest_loss,
                                    .class_count = training->settings.model->class_count,
                                    .learning_rate = training->settings.optimizer.learning_rate,
                                    .examples = &task->train,
                                    .sequence_length = task->sequence_length};
    return divergence_set(&divergence, error);
}

/* Weights that are not finite make the next loss not finite, even if no step is left that would show it. A
 * large loss is no failure: PyTorch's programs have such epochs too, and go on. */
static bool check_weights(const struct training *training, struct error *error) {
    return all_finite(training->parameters, training->settings.model->parameter_count) ||
           set_diverged(training, "the weights stopped being finite", error);
}

static bool evaluate(struct training *training, const struct run_host *host, struct error *error) {
    const struct example_set *test = &training->settings.task->test;
    size_t correct = 0, batch_size = training->settings.batch_size;
    for (size_t first = 0; first < test->count; first += batch_size) {
        size_t count = test->count - first < batch_size ? test->count - first : batch_size;
        struct shard_batch batch = {.examples = test, .first = first, .count = count};
        correct += shards_count_correct(&training->shards, training->parameters, &batch, host);
        if (!run_host_check_cancelled(host, error))
            return false;
    }
    training->state.test_accuracy = test->count == 0 ? 0 : (double)correct / (double)test->count;
    return true;
}

/* Trains on one batch; adds its loss, summed over its examples, to *total. */
static bool take_step(struct training *training, const struct run_host *host, size_t first, size_t count,
                      double *total, struct error *error) {
    struct shards *shards = &training->shards;
    struct training_state *state = &training->state;
    if (!run_host_check_cancelled(host, error))
        return false;
    struct shard_batch batch = {&training->settings.task->train, training->order, first, count};
    double loss = shards_compute_gradient(shards, training->parameters, &batch, host);
    if (!run_host_check_cancelled(host, error))
        return false;
    state->step++;
    if (!isfinite(loss))
        return set_diverged(training, "the loss stopped being finite", error);
    if (isnan(training->earlier_loss))
        training->earlier_loss = loss;
    training->latest_loss = loss;
    const struct optimizer_settings *optimizer = &training->settings.optimizer;
    struct step_factors factors = optimizer_factors_at(optimizer, state->step);
    shards_update_parameters(shards, optimizer->kind, training->parameters, training->first_moment,
                             training->second_moment, &factors, &host->parallel);
    *total += loss * (double)count;
    if (host->listener.step != NULL)
        host->listener.step(host->listener.owner, state->step, loss);
    return true;
}

static bool train_epoch(struct training *training, const struct run_host *host, struct error *error) {
    struct torch_loader *loader = &training->state.loader;
    size_t examples = training->settings.task->train.count, first, count;
    size_t steps_in_all = training->settings.epochs * steps_per_epoch(training);
    double total = 0;
    training->earlier_loss = training->latest_loss = training->state.train_loss;
    torch_loader_begin_epoch(loader, training->order);
    while (torch_loader_next_batch(loader, &first, &count)) {
        if (!take_step(training, host, first, count, &total, error))
            return false;
        run_host_report_progress(host, training->state.step, steps_in_all, "steps");
    }
    if (!check_weights(training, error))
        return false;
    training->state.train_loss = total / (double)examples;
    training->state.epoch++;
    return true;
}

/* Reports a finished epoch, or the state before the first, to the listener. */
static bool report_epoch(struct training *training, const struct run_host *host, double seconds,
                         struct error *error) {
    struct training_state *state = &training->state;
    size_t count = training->settings.model->parameter_count;
    state->seconds = seconds;
    if (host->listener.epoch == NULL)
        return true;
    struct epoch_metrics metrics = {state->epoch, state->train_loss, state->test_accuracy, seconds};
    checkpoint_write(training->checkpoint, state, training->parameters, count);
    return host->listener.epoch(host->listener.owner, &metrics, training->parameters, count,
                                training->checkpoint, checkpoint_size(count), error);
}

bool training_run(struct training *training, const struct run_host *host, struct training_outcome *outcome,
                  struct error *error) {
    struct training_state *state = &training->state;
    if (host->checkpoint != NULL) {
        if (!checkpoint_read(host->checkpoint, host->checkpoint_size, state, training->parameters,
                             training->settings.model->parameter_count, error))
            return false;
    }
    double start = run_host_seconds_now(host) - state->seconds;
    if (host->checkpoint == NULL &&
        (!evaluate(training, host, error) ||
         !report_epoch(training, host, run_host_seconds_now(host) - start, error)))
        return false;
    while (state->epoch < training->settings.epochs)
        if (!train_epoch(training, host, error) || !evaluate(training, host, error) ||
            !report_epoch(training, host, run_host_seconds_now(host) - start, error))
            return false;
    *outcome = (struct training_outcome){state->test_accuracy, state->train_loss, state->seconds,
                                         (size_t)state->step};
    return true;
}
