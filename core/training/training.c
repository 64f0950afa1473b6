/* The training loop: see training.h. */
#include "core/training/training.h"

#include "core/math/matrix.h"
#include "core/model/adam.h"
#include "core/training/checkpoint.h"
#include "core/training/shards.h"

#include <math.h>
#include <stdio.h>
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
    return error_set(
        error, ERROR_DIVERGED,
        "training diverged: %s at step %llu (epoch %llu). Try a smaller learning_rate than %g, for "
        "example %g",
        what, (unsigned long long)training->state.step,
        (unsigned long long)(training->state.step - 1) / steps_per_epoch(training) + 1,
        training->settings.learning_rate, fmin(training->settings.learning_rate / 10, 0.005));
}

/* Adam's steps have bounded length, so with a far too large learning rate the loss may stay finite but become
 * meaningless. An epoch whose loss is this many times that of guessing (ln of the number of classes) counts
 * as divergence. Ten times would be too strict: the chapter's attention with seed 0 has such an epoch, in
 * PyTorch too, and recovers. */
static const double divergence_factor = 30;

static bool check_epoch(const struct training *training, double loss, struct error *error) {
    char what[120];
    double guessing = log((double)training->settings.model->class_count);
    if (!all_finite(training->parameters, training->settings.model->parameter_count))
        return set_diverged(training, "the weights stopped being finite", error);
    if (training->settings.model->class_count < 2 || loss <= divergence_factor * guessing)
        return true;
    snprintf(what, sizeof what, "the mean loss is %.3g, while guessing gives %.2g,", loss, guessing);
    return set_diverged(training, what, error);
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
    struct adam_factors factors = adam_factors_at(state->step, training->settings.learning_rate);
    shards_update_parameters(shards, training->parameters, training->first_moment, training->second_moment,
                             &factors, &host->parallel);
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
    torch_loader_begin_epoch(loader, training->order);
    while (torch_loader_next_batch(loader, &first, &count)) {
        if (!take_step(training, host, first, count, &total, error))
            return false;
        run_host_report_progress(host, training->state.step, steps_in_all, "steps");
    }
    if (!check_epoch(training, total / (double)examples, error))
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
