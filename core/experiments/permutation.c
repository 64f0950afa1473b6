/* permutation: shows what happens to attention's output if its input is shuffled.
 *
 * Without positions a sequence is a set: shuffling changes only the order of the float additions, so the mean
 * of attention over all steps stays the same up to rounding. With positions it changes. */
#include "core/experiments/drawn_model.h"
#include "core/experiments/experiments.h"
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
    size_t *order;              /* [steps]: step t of the shuffled input is step order[t] of the original */
    float *values;              /* [examples][steps], shuffled */
    float *original, *shuffled; /* [examples][classes], logits */
};

static void lay_out(struct shuffle *shuffle, size_t examples, size_t steps, size_t classes,
                    struct arena *arena) {
    shuffle->order = arena_allocate(arena, steps, sizeof *shuffle->order);
    shuffle->values = arena_floats(arena, examples * steps);
    shuffle->original = arena_floats(arena, examples * classes);
    shuffle->shuffled = arena_floats(arena, examples * classes);
}

static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { PASSES = 2 };
    (void)data;
    struct drawn_model_request request = request_of(set);
    size_t classes = drawn_model_build(&request).class_count;
    struct shuffle shuffle;
    struct arena measure = arena_measuring();
    lay_out(&shuffle, request.examples, request.steps, classes, &measure);
    struct run_cost cost = {.memory_bytes = 0};
    drawn_model_add_work(&request, PASSES, &cost);
    drawn_examples_add_cost(request.examples, request.steps, &cost);
    cost.memory_bytes += (double)drawn_model_size(&request);
    run_cost_add_memory(&cost, (double)measure.used);
    run_cost_add_result(&cost, (double)request.steps + 2 * (double)request.examples * (double)classes + 1);
    return cost;
}

static void write_result(const struct result_sink *sink, const struct shuffle *shuffle, size_t examples,
                         size_t steps, size_t classes) {
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
    struct shuffle shuffle;
    struct arena measure = arena_measuring();
    lay_out(&shuffle, count, steps, classes, &measure);
    if (task == NULL || !arena_init(&arena, measure.used, error))
        goto cleanup;
    lay_out(&shuffle, count, steps, classes, &arena);

    const float *values = task->train.values;
    memcpy(shuffle.original, drawn_model_forward(&model, values, count), count * classes * sizeof(float));
    torch_randperm(&generator, shuffle.order, steps);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < steps; t++)
            shuffle.values[i * steps + t] = values[i * steps + shuffle.order[t]];
    memcpy(shuffle.shuffled, drawn_model_forward(&model, shuffle.values, count),
           count * classes * sizeof(float));
    if (!experiment_check_cancelled(context, error))
        goto cleanup;
    write_result(&context->result, &shuffle, count, steps, classes);
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
