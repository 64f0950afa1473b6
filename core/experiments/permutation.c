/* permutation: shows what happens to attention's output if its input is shuffled.
 *
 * Without positions a sequence is a set: shuffling changes only the order of the float additions, so each
 * token's output moves with the token (equivariance), and the mean of attention over all steps stays the same
 * (invariance), up to rounding. With positions both change. */
#include "core/experiments/drawn_model.h"
#include "core/experiments/experiments.h"
#include "core/experiments/token_outputs.h"
#include "core/model/choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLES_SEED = 5 };

static const struct parameter_declaration declarations[] = {
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream: the weights, then the order of the shuffled steps.",
     .maximum = SEED_MAXIMUM,
     .default_number = 0},
    {.name = "sequence_length",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Sequence length",
     .meaning = "How many steps are shuffled.",
     .minimum = 1,
     .maximum = 2000,
     .default_number = 60},
    {.name = "examples",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EXAMPLES,
     .title = "Examples",
     .meaning = "How many sequences; all are shuffled in the same way.",
     .minimum = 1,
     .maximum = 1024,
     .default_number = 8},
    {.name = "position",
     .type = PARAMETER_CHOICE,
     .title = "Positions",
     .meaning = "How the model knows the position of a step.",
     .choices = position_names,
     .default_text = "none"},
};

static struct drawn_model_request request_of(const struct parameter_set *set) {
    return (struct drawn_model_request){.name = "attention",
                                        .steps = (size_t)parameter_integer(set, "sequence_length"),
                                        .examples = (size_t)parameter_integer(set, "examples"),
                                        .position = model_choices_position(set)};
}

/* Working memory in addition to the model's. */
struct shuffle {
    size_t *order;               /* [steps]: step t of the shuffled input is step order[t] of the original */
    float *values;               /* [examples][steps], shuffled */
    float *original, *shuffled;  /* [examples][classes], logits */
    struct token_outputs tokens; /* of one example at a time, shuffled; at last of the first */
    float *token_outputs;        /* [steps][width]: its outputs before */
    float equivariance_difference; /* the largest, over all examples */
};

static void lay_out(struct shuffle *shuffle, const struct model *model, size_t examples,
                    struct arena *arena) {
    size_t steps = model->input.steps, classes = model->class_count;
    shuffle->order = arena_allocate(arena, steps, sizeof *shuffle->order);
    shuffle->values = arena_floats(arena, examples * steps);
    shuffle->original = arena_floats(arena, examples * classes);
    shuffle->shuffled = arena_floats(arena, examples * classes);
    token_outputs_lay_out(&shuffle->tokens, model, arena);
    shuffle->token_outputs = arena_floats(arena, steps * token_outputs_width(model));
}

static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { PASSES = 2 };
    (void)data;
    struct drawn_model_request request = request_of(set);
    struct model model = drawn_model_build(&request);
    struct shuffle shuffle;
    struct arena measure = arena_measuring();
    lay_out(&shuffle, &model, request.examples, &measure);
    struct run_cost cost = {.memory_bytes = 0};
    drawn_model_add_work(&request, PASSES, &cost);
    drawn_examples_add_cost(request.examples, request.steps, &cost);
    cost.memory_bytes += (double)drawn_model_size(&request);
    run_cost_add_memory(&cost, (double)measure.used);
    drawn_model_add_work(&request, PASSES, &cost); /* once more, one example at a time */
    cost.work[WORK_ARITHMETIC] += PASSES * (double)request.examples * token_outputs_operations(&model);
    run_cost_add_result(&cost, 2 * (double)request.steps * (1 + (double)token_outputs_width(&model)) +
                                   2 * (double)request.examples * (double)model.class_count + 3);
    return cost;
}

/* How far the outputs of an example's tokens are from where they moved: shuffled step t was step order[t]. */
static float difference_of_moves(const struct shuffle *shuffle, size_t steps, size_t width) {
    float largest = 0;
    for (size_t t = 0; t < steps; t++)
        for (size_t j = 0; j < width; j++)
            largest = fmaxf(largest, fabsf(shuffle->tokens.outputs[t * width + j] -
                                           shuffle->token_outputs[shuffle->order[t] * width + j]));
    return largest;
}

/* Compares the outputs of every example's tokens, in order and shuffled. Goes from the last example to the
 * first, which is the one that the result shows. */
static bool compare_tokens(struct shuffle *shuffle, struct drawn_model *model,
                           const struct drawn_model_request *request, const float *values,
                           const struct experiment_context *context, struct error *error) {
    size_t steps = request->steps, width = token_outputs_width(&model->model);
    for (size_t i = request->examples; i-- > 0;) {
        token_outputs_compute(&shuffle->tokens, model, request->position, values + i * steps);
        memcpy(shuffle->token_outputs, shuffle->tokens.outputs, steps * width * sizeof(float));
        token_outputs_compute(&shuffle->tokens, model, request->position, shuffle->values + i * steps);
        shuffle->equivariance_difference =
            fmaxf(shuffle->equivariance_difference, difference_of_moves(shuffle, steps, width));
        if (!experiment_check_cancelled(context, error))
            return false;
    }
    return true;
}

static void write_tokens(const struct result_sink *sink, const struct shuffle *shuffle, const float *values,
                         size_t steps, size_t width) {
    result_begin_object(sink, "tokens");
    result_vector(sink, "input", values, steps);
    result_matrix(sink, "original", shuffle->token_outputs, steps, width);
    result_matrix(sink, "shuffled", shuffle->tokens.outputs, steps, width);
    result_end_object(sink);
    result_real(sink, "equivariance_difference", shuffle->equivariance_difference);
}

static void write_result(const struct result_sink *sink, const struct shuffle *shuffle,
                         const struct model *model, size_t examples, const float *values) {
    size_t steps = model->input.steps, classes = model->class_count;
    float largest = 0;
    for (size_t i = 0; i < examples * classes; i++)
        largest = fmaxf(largest, fabsf(shuffle->original[i] - shuffle->shuffled[i]));
    result_begin_object(sink, NULL);
    result_begin_array(sink, "permutation");
    for (size_t t = 0; t < steps; t++)
        result_integer(sink, NULL, (int64_t)shuffle->order[t]);
    result_end_array(sink);
    result_matrix(sink, "original", shuffle->original, examples, classes);
    result_matrix(sink, "shuffled", shuffle->shuffled, examples, classes);
    result_real(sink, "max_difference", largest);
    write_tokens(sink, shuffle, values, steps, token_outputs_width(model));
    result_end_object(sink);
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_set *set = context->parameters;
    struct drawn_model_request request = request_of(set);
    request.stop = &context->host.stop;
    size_t count = request.examples, steps = request.steps;
    struct torch_generator generator;
    struct drawn_model model;
    struct arena arena = {0};
    struct task *task = NULL;
    bool done = false;
    torch_generator_seed(&generator, (uint64_t)parameter_integer(set, "seed"));
    if (!drawn_model_open(&model, &request, &generator, error))
        goto cleanup;
    task = drawn_examples_open(count, steps, EXAMPLES_SEED, error);
    size_t classes = model.model.class_count;
    struct shuffle shuffle = {0};
    struct arena measure = arena_measuring();
    lay_out(&shuffle, &model.model, count, &measure);
    if (task == NULL || !arena_init(&arena, measure.used, error))
        goto cleanup;
    lay_out(&shuffle, &model.model, count, &arena);

    const float *values = task->train.values;
    memcpy(shuffle.original, drawn_model_forward(&model, values, count), count * classes * sizeof(float));
    torch_randperm(&generator, shuffle.order, steps);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < steps; t++)
            shuffle.values[i * steps + t] = values[i * steps + shuffle.order[t]];
    memcpy(shuffle.shuffled, drawn_model_forward(&model, shuffle.values, count),
           count * classes * sizeof(float));
    if (!compare_tokens(&shuffle, &model, &request, values, context, error))
        goto cleanup;
    write_result(&context->result, &shuffle, &model.model, count, values);
    experiment_report_progress(context, 1, 1, "shuffles");
    done = true;
cleanup:
    arena_free(&arena);
    task_free(task);
    drawn_model_close(&model);
    return done;
}

const struct experiment experiment_permutation = {
    .name = "permutation",
    .title = "Shuffling the input",
    .summary = "Shuffles the input of attention and compares the outputs, with and without positions.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .estimate = estimate,
    .run = run,
};
