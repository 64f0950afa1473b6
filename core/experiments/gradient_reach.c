/* gradient-reach: measures how much gradient reaches each step of the input.
 *
 * Runs one forward and one backward pass of untrained models over the first-element task. The mean of
 * |d loss / d x_t| over the examples tells how much a model could learn from step t
 * (core/training/input_gradient.h). */
#include "core/experiments/drawn_model.h"
#include "core/experiments/experiments.h"
#include "core/layers/positions/position.h"
#include "core/model/choices.h"
#include "core/training/input_gradient.h"

#include <math.h>

enum { EXAMPLES_SEED = 1 };

static const struct parameter_declaration declarations[] = {
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream; each model's weights are drawn with it afresh.",
     .maximum = SEED_MAXIMUM,
     .default_number = 0},
    {.name = "sequence_length",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Sequence length",
     .meaning = "How many steps lie between the first input and the answer.",
     .minimum = 2,
     .maximum = 2000,
     .default_number = 60},
    {.name = "examples",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EXAMPLES,
     .title = "Examples",
     .meaning = "How many sequences the gradient is averaged over.",
     .minimum = 1,
     .maximum = 4096,
     .default_number = 256},
    {.name = "models",
     .type = PARAMETER_CHOICE_LIST,
     .title = "Models",
     .meaning = "Which models to measure.",
     .choice_table = &model_choices_models_with_path,
     .default_text = "rnn,lstm,attention"},
    {.name = "position",
     .type = PARAMETER_CHOICE,
     .title = "Positions",
     .meaning = "How attention and the transformer know the position of a step.",
     .choices = position_names,
     .default_text = "learned"},
};

/* A run stored by an earlier version has learned positions. */
static const struct position *position_of(const struct parameter_set *set) {
    return parameter_is_set(set, "position") ? model_choices_position(set) : &position_learned;
}

static struct drawn_model_request request_of(const struct parameter_set *set, const char *name) {
    return (struct drawn_model_request){.name = name,
                                        .steps = (size_t)parameter_integer(set, "sequence_length"),
                                        .examples = 1, /* the examples pass through memory of their own */
                                        .position = position_of(set)};
}

static bool any_takes_position(const struct parameter_value *names) {
    for (size_t i = 0; i < names->count; i++)
        if (model_takes(model_find(names->texts[i]), "position"))
            return true;
    return false;
}

/* Recurrent models know the order by walking through it. */
static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    (void)data;
    if (position_of(set) != &position_learned && !any_takes_position(parameter_value(set, "models")))
        parameter_faults_add(faults, "position", "applies to none of the models");
}

static size_t at_once(const struct parameter_set *set) {
    size_t examples = (size_t)parameter_integer(set, "examples");
    return examples < INPUT_GRADIENT_AT_ONCE ? examples : INPUT_GRADIENT_AT_ONCE;
}

/* One model at a time is in memory. Subnormal numbers, which a processor handles slowly, make up most of the
 * backward pass. */
static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { FORWARD_AND_BACKWARD = 12, FURTHER_NUMBERS = 5 };
    (void)data;
    const struct parameter_value *names = parameter_value(set, "models");
    double steps = (double)parameter_integer(set, "sequence_length");
    double examples = (double)parameter_integer(set, "examples"), largest = 0;
    struct run_cost cost = {.memory_bytes = 0};
    drawn_examples_add_cost((size_t)examples, (size_t)steps, &cost);
    for (size_t i = 0; i < names->count; i++) {
        struct drawn_model_request request = request_of(set, names->texts[i]);
        struct model model = drawn_model_build(&request);
        double bytes = (double)input_gradient_memory_size(&model, at_once(set));
        largest = fmax(largest, (double)drawn_model_size(&request) + bytes);
        drawn_model_add_work(&request, FORWARD_AND_BACKWARD * examples, &cost);
        cost.work[WORK_BYTES] += bytes;
        run_cost_add_result(&cost, steps + FURTHER_NUMBERS);
    }
    cost.memory_bytes += largest;
    return cost;
}

static void write_row(const struct result_sink *sink, const char *name, const struct input_gradient *reach,
                      size_t steps) {
    float first = reach->gradient[0], last = reach->gradient[steps - 1];
    result_begin_object(sink, NULL);
    result_text(sink, "model", name);
    result_real(sink, "loss", reach->loss);
    result_vector(sink, "gradient", reach->gradient, steps);
    result_real(sink, "first", first);
    result_real(sink, "last", last);
    result_real(sink, "ratio", last / first);
    /* Steps of computation between the first input and the output. */
    result_integer(sink, "path_length", model_find(name)->path == MODEL_PATH_DIRECT ? 1 : (int64_t)steps - 1);
    result_end_object(sink);
}

static bool measure_model(struct experiment_context *context, const char *name, const struct task *task,
                          struct error *error) {
    const struct parameter_set *set = context->parameters;
    struct drawn_model_request request = request_of(set, name);
    request.stop = &context->host.stop;
    struct torch_generator generator;
    struct drawn_model model;
    struct input_gradient reach = {0};
    torch_generator_seed(&generator, (uint64_t)parameter_integer(set, "seed"));
    bool done = drawn_model_open(&model, &request, &generator, error);
    if (!done)
        goto cleanup;
    struct input_gradient_request wanted = {.model = &model.model,
                                            .parameters = model.parameters,
                                            .set = &task->train,
                                            .examples = task->train.count,
                                            .at_once = at_once(set),
                                            .kernels = model.kernels,
                                            .stop = model.stop};
    done = input_gradient_compute(&reach, &wanted, error) && experiment_check_cancelled(context, error);
    if (done)
        write_row(&context->result, name, &reach, request.steps);
cleanup:
    input_gradient_free(&reach);
    drawn_model_close(&model);
    return done;
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_set *set = context->parameters;
    const struct parameter_value *names = parameter_value(set, "models");
    struct task *task =
        drawn_examples_open((size_t)parameter_integer(set, "examples"),
                            (size_t)parameter_integer(set, "sequence_length"), EXAMPLES_SEED, error);
    bool done = task != NULL;
    result_begin_object(&context->result, NULL);
    result_begin_array(&context->result, "rows");
    for (size_t i = 0; i < names->count && done; i++) {
        done = measure_model(context, names->texts[i], task, error);
        experiment_report_progress(context, i + 1, names->count, "models");
    }
    result_end_array(&context->result);
    result_end_object(&context->result);
    task_free(task);
    return done;
}

const struct experiment experiment_gradient_reach = {
    .name = "gradient-reach",
    .title = "How far the gradient reaches",
    .summary =
        "Measures how much gradient reaches each input step of an RNN, an LSTM, attention and a transformer.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
