/* For tests of layers: runs one layer forward and backward on its own buffers, and compares its gradients
 * with finite differences of a loss that weights every output. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_LAYERS_LAYER_CHECK_H
#define ATTNLAB_TESTS_UNIT_CORE_LAYERS_LAYER_CHECK_H

#include "core/layers/layer.h"
#include "core/random/torch_random.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct layer_run {
    struct layer layer;
    struct layer_pass pass;
    size_t input_count, output_count;
    float *parameters, *input, *output, *saved, *grad_output, *grad_input, *grad_parameters, *scratch;
};

/* After each buffer follow guard values that the layer must not change. */
enum { LAYER_GUARD = 64 };
static const float layer_guard_value = 7777;

static inline float *layer_check_floats(size_t count) {
    float *floats = calloc(count + LAYER_GUARD, sizeof *floats);
    ck_assert_ptr_nonnull(floats);
    for (size_t i = 0; i < LAYER_GUARD; i++)
        floats[count + i] = layer_guard_value;
    return floats;
}

static inline void layer_check_guard(const float *floats, size_t count, const char *what) {
    for (size_t i = 0; i < LAYER_GUARD; i++)
        if (floats[count + i] != layer_guard_value)
            ck_abort_msg("%s has more than its %zu floats", what, count);
}

/* Free with layer_run_end. */
static inline struct layer_run layer_run_start(struct layer layer, size_t count) {
    struct layer_run run = {.layer = layer};
    run.input_count = count * layer.input.steps * layer.input.width;
    run.output_count = count * layer.output.steps * layer.output.width;
    run.parameters = layer_check_floats(layer.parameter_count);
    run.input = layer_check_floats(run.input_count);
    run.output = layer_check_floats(run.output_count);
    run.saved = layer_check_floats(layer_saved_size(&layer, count));
    run.scratch = layer_check_floats(layer_scratch_size(&layer, count));
    run.grad_output = layer_check_floats(run.output_count);
    run.grad_input = layer_check_floats(run.input_count);
    run.grad_parameters = layer_check_floats(layer.parameter_count);
    run.pass = (struct layer_pass){.kernels = &kernels_plain, .count = count, .scratch = run.scratch};
    return run;
}

static inline void layer_run_end(struct layer_run *run) {
    layer_check_guard(run->output, run->output_count, "output");
    layer_check_guard(run->saved, layer_saved_size(&run->layer, run->pass.count), "saved");
    layer_check_guard(run->scratch, layer_scratch_size(&run->layer, run->pass.count), "scratch");
    layer_check_guard(run->grad_input, run->input_count, "grad_input");
    layer_check_guard(run->grad_parameters, run->layer.parameter_count, "grad_parameters");
    float *all[] = {run->parameters,  run->input,      run->output,          run->saved,
                    run->grad_output, run->grad_input, run->grad_parameters, run->scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* A call's outputs and scratch memory may contain anything that another batch left there. */
static inline void layer_run_spoil(float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
}

static inline void layer_run_forward(struct layer_run *run) {
    layer_run_spoil(run->scratch, layer_scratch_size(&run->layer, run->pass.count));
    layer_run_spoil(run->saved, layer_saved_size(&run->layer, run->pass.count));
    layer_run_spoil(run->output, run->output_count);
    run->layer.type->forward(&run->layer, run->parameters, run->input, run->output, run->saved, &run->pass);
}

/* Overwrites grad_output. */
static inline void layer_run_backward(struct layer_run *run) {
    layer_run_spoil(run->scratch, layer_scratch_size(&run->layer, run->pass.count));
    layer_run_spoil(run->grad_input, run->input_count);
    run->layer.type->backward(&run->layer, run->parameters, run->input, run->output, run->saved,
                              run->grad_output, run->grad_input, run->grad_parameters, &run->pass);
}

static inline double layer_check_loss(struct layer_run *run, const float *weights) {
    layer_run_forward(run);
    double loss = 0;
    for (size_t i = 0; i < run->output_count; i++)
        loss += (double)weights[i] * (double)run->output[i];
    return loss;
}

/* Compares gradient[count] with central differences of the loss as values[i] moves. */
static inline void layer_check_differences(struct layer_run *run, const float *weights, float *values,
                                           const float *gradient, size_t count, const char *what) {
    const float step = 2e-3F;
    for (size_t i = 0; i < count; i++) {
        float kept = values[i];
        values[i] = kept + step;
        double above = layer_check_loss(run, weights), width = (double)values[i];
        values[i] = kept - step;
        double below = layer_check_loss(run, weights);
        width -= (double)values[i];
        values[i] = kept;
        double expected = (above - below) / width, got = (double)gradient[i];
        ck_assert_msg(fabs(got - expected) <= 2e-3 * (1 + fabs(expected)),
                      "%s: d loss / d %s[%zu] is %g, differences say %g", run->layer.type->name, what, i, got,
                      expected);
    }
}

/* Draws parameters, input (scaled by 1) and the loss's weights with `seed`, and compares every gradient with
 * differences. The caller supplies tokens and the padding mask. */
static inline void layer_check_gradients(struct layer layer, size_t count, const int32_t *tokens,
                                         const uint8_t *present, uint64_t seed) {
    struct layer_run run = layer_run_start(layer, count);
    struct torch_generator generator;
    torch_generator_seed(&generator, seed);
    run.pass.tokens = tokens;
    run.pass.present = present;
    torch_normal(&generator, run.parameters, layer.parameter_count, 0, 0.7);
    torch_normal(&generator, run.input, run.input_count, 0, 1);
    float *weights = layer_check_floats(run.output_count);
    torch_normal(&generator, weights, run.output_count, 0, 1);

    layer_run_forward(&run);
    memcpy(run.grad_output, weights, run.output_count * sizeof *weights);
    layer_run_backward(&run);
    layer_check_differences(&run, weights, run.input, run.grad_input, run.input_count, "input");
    layer_check_differences(&run, weights, run.parameters, run.grad_parameters, layer.parameter_count,
                            "parameter");
    free(weights);
    layer_run_end(&run);
}

/* Fails if a value differs from the expected one by more than `tolerance` times (1 + its size). libcheck
 * writes to a pipe at every assertion, which for each of a million values would take most of a test's time:
 * so only the first wrong value reaches it. */
static inline void layer_check_equal(const char *what, const float *got, const float *expected, size_t count,
                                     double tolerance) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - (double)expected[i]) <= tolerance * (1 + fabs((double)expected[i]))))
            ck_abort_msg("%s[%zu] is %.9g, expected %.9g", what, i, (double)got[i], (double)expected[i]);
}

#endif
