/* For tests of the server's parts: a private data directory, and an experiment that counts.
 *
 * "counting" behaves like training without its cost: it makes a number in every step, mixes it into the state
 * that its checkpoint stores, and reports epochs with weights made from that state. So a test can tell
 * whether a resumed run ends with the same weights as an uninterrupted one. */
#ifndef ATTNLAB_TESTS_UNIT_SERVER_SERVER_FIXTURE_H
#define ATTNLAB_TESTS_UNIT_SERVER_SERVER_FIXTURE_H

#include "core/experiments/experiment.h"
#include "core/parameters/parse.h"
#include "server/runs/runs.h"
#include "server/store/sqlite.h"

#include <check.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char fixture_directory[64];

static inline void fixture_make_directory(void) {
    snprintf(fixture_directory, sizeof fixture_directory, "/tmp/attnlab-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(fixture_directory));
}

static inline void fixture_remove_directory(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", fixture_directory);
    ck_assert_int_eq(system(command), 0);
}

static inline void sleep_ms(long milliseconds) {
    struct timespec duration = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&duration, NULL);
}

static inline struct store *fixture_open_store(void) {
    struct error error = {0};
    char warning[512];
    struct store *store = store_open_sqlite(fixture_directory, warning, sizeof warning, &error);
    ck_assert_msg(store != NULL, "%s", error.message);
    ck_assert_str_eq(warning, "");
    return store;
}

enum { COUNTING_WEIGHTS = 100 };

/* Runs wait after this epoch, however fast the machine is, until this is raised or they are cancelled. */
static _Atomic uint64_t counting_hold_epoch = UINT64_MAX;

struct counting_state {
    uint64_t epoch, step, mixed;
};

static inline void counting_weights(const struct counting_state *state, float weights[COUNTING_WEIGHTS]) {
    for (size_t i = 0; i < COUNTING_WEIGHTS; i++)
        weights[i] = (float)((state->mixed >> (i % 40)) & 0xffff);
}

static inline bool counting_report(struct experiment_context *context, const struct counting_state *state,
                                   size_t epochs, struct error *error) {
    float weights[COUNTING_WEIGHTS];
    counting_weights(state, weights);
    struct epoch_metrics metrics = {.epoch = state->epoch,
                                    .train_loss = state->epoch == 0 ? NAN : 1.0 / (double)state->epoch,
                                    .test_accuracy = 0.5,
                                    .seconds = (double)state->epoch};
    experiment_report_progress(context, state->epoch, epochs, "epochs");
    return context->host.listener.epoch(context->host.listener.owner, &metrics, weights, COUNTING_WEIGHTS,
                                        state, sizeof *state, error);
}

static inline bool counting_run(struct experiment_context *context, struct error *error) {
    size_t epochs = (size_t)parameter_integer(context->parameters, "epochs");
    size_t steps = (size_t)parameter_integer(context->parameters, "steps");
    long pause = (long)parameter_integer(context->parameters, "pause_ms");
    struct counting_state state = {.mixed = (uint64_t)parameter_integer(context->parameters, "seed")};
    if (context->host.checkpoint != NULL)
        memcpy(&state, context->host.checkpoint, sizeof state);
    else if (!counting_report(context, &state, epochs, error))
        return false;
    while (state.epoch < epochs) {
        for (size_t i = 0; i < steps; i++) {
            while (state.epoch >= atomic_load(&counting_hold_epoch) && !experiment_is_cancelled(context))
                sleep_ms(1);
            if (experiment_is_cancelled(context))
                return error_set(error, ERROR_CANCELLED, "cancelled");
            state.step++;
            state.mixed = (state.mixed ^ state.step) * 6364136223846793005u + 1442695040888963407u;
            context->host.listener.step(context->host.listener.owner, state.step, 1.0 / (double)state.step);
            if (pause > 0)
                sleep_ms(pause);
        }
        state.epoch++;
        if (!counting_report(context, &state, epochs, error))
            return false;
    }
    if (parameter_boolean(context->parameters, "fail"))
        return error_set(error, ERROR_DIVERGED, "the loss stopped being finite");
    result_begin_object(&context->result, NULL);
    result_number(&context->result, "test_accuracy", 0.25 * (double)(1 + state.mixed % 2));
    result_integer(&context->result, "parameter_count", COUNTING_WEIGHTS);
    result_number(&context->result, "seconds", 0.5);
    result_end_object(&context->result);
    return true;
}

static const char *const counting_models[] = {"attention", "rnn", NULL};

static const struct parameter_declaration counting_parameters[] = {
    {.name = "model", .type = PARAMETER_CHOICE, .choices = counting_models, .default_text = "attention"},
    {.name = "epochs", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 1000, .default_number = 3},
    {.name = "steps", .type = PARAMETER_INTEGER, .minimum = 1, .maximum = 1000000, .default_number = 4},
    {.name = "pause_ms", .type = PARAMETER_INTEGER, .minimum = 0, .maximum = 1000, .default_number = 0},
    {.name = "seed", .type = PARAMETER_INTEGER, .minimum = 0, .maximum = 1000, .default_number = 0},
    {.name = "fail", .type = PARAMETER_BOOLEAN, .default_number = 0},
};
enum { COUNTING_PARAMETERS = sizeof counting_parameters / sizeof counting_parameters[0] };

static const struct experiment counting_experiment = {.name = "counting",
                                                      .title = "Counting",
                                                      .summary = "Counts.",
                                                      .parameters = counting_parameters,
                                                      .parameter_count = COUNTING_PARAMETERS,
                                                      .run = counting_run,
                                                      .trains_model = true};

static inline const struct experiment *counting_find(const char *name) {
    return strcmp(name, counting_experiment.name) == 0 ? &counting_experiment : NULL;
}

/* Sets parameters from "name=value" texts (NULL-terminated), and the others to their defaults. */
static inline void counting_prepare(struct parameter_set *set, const char *const *settings) {
    struct parameter_faults faults = {0};
    ck_assert(parameter_set_init(set, counting_parameters, COUNTING_PARAMETERS, NULL));
    for (; settings != NULL && *settings != NULL; settings++) {
        char name[32];
        const char *value = strchr(*settings, '=') + 1;
        snprintf(name, sizeof name, "%.*s", (int)(value - 1 - *settings), *settings);
        ck_assert(parameter_set_from_text(set, (size_t)parameter_find(set, name), value, &faults));
    }
    ck_assert(parameter_set_apply_defaults(set, NULL));
}

#endif
