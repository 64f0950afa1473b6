/* transformer-block: shows the parts of a transformer's encoder block, its input and its output.
 *
 * A block is PyTorch's own attention (nn.MultiheadAttention) and a feed-forward part, each with a residual
 * connection and a layer norm: after it (Vaswani et al. 2017, figure 1, left) or before it (GPT-2). The
 * output has the input's shape, so blocks can be stacked. */
#include "core/experiments/experiments.h"
#include "core/layers/attention/multi_head.h"
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/feedforward.h"
#include "core/math/arena.h"
#include "core/math/matrix.h"
#include "core/model/choices.h"
#include "core/random/torch_random.h"

/* A page can show input and output up to this size. */
enum { NUMBERS_MAXIMUM = 65536 };

static const struct parameter_declaration declarations[] = {
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream: the blocks' weights, then the input.",
     .maximum = SEED_MAXIMUM,
     .default_number = 0},
    {.name = "batch",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Batch",
     .meaning = "How many sequences.",
     .minimum = 1,
     .maximum = 64,
     .default_number = 2},
    {.name = "tokens",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Tokens",
     .meaning = "How many tokens a sequence has.",
     .minimum = 1,
     .maximum = 512,
     .default_number = 10},
    {.name = "width",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .title = "Width",
     .meaning = "How many numbers a token has: d_model.",
     .minimum = 1,
     .maximum = 1024,
     .default_number = 32},
    {.name = "heads",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Heads",
     .meaning = "How many heads; each projects the whole width to width / heads.",
     .minimum = 1,
     .maximum = 64,
     .default_number = 4},
    {.name = "feedforward_width",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .cost_allowance = 4,
     .title = "Feed-forward width",
     .meaning = "How many hidden units the feed-forward part has.",
     .minimum = 1,
     .maximum = 8192,
     .default_number = 128},
    {.name = "activation",
     .type = PARAMETER_CHOICE,
     .title = "Activation",
     .meaning = "The activation between the two linear layers of the feed-forward part.",
     .choices = model_choices_activations,
     .default_text = "gelu"},
    {.name = "norm",
     .type = PARAMETER_CHOICE,
     .title = "Norm",
     .meaning = "Last: after each sum, as in BERT. First: before each part, as in GPT-2 and Llama.",
     .choices = model_choices_norms,
     .default_text = "last"},
    {.name = "layers",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Layers",
     .meaning = "How many blocks are stacked.",
     .minimum = 1,
     .maximum = 48,
     .default_number = 1},
};

/* A stack of equal layers, each with its own parameters. */
struct stack {
    size_t batch, layers, heads;
    struct layer layer;
    float *parameters;            /* [layers][layer.parameter_count] */
    float *input, *output, *next; /* [batch][tokens][width] */
    float *saved, *scratch;       /* of one layer */
};

static struct stack stack_of(const struct parameter_set *set) {
    struct layer_shape shape = {(size_t)parameter_integer(set, "tokens"),
                                (size_t)parameter_integer(set, "width")};
    struct layer_options options = {.heads = (size_t)parameter_integer(set, "heads"),
                                    .norm = model_choices_norm(set),
                                    .feedforward_width = (size_t)parameter_integer(set, "feedforward_width"),
                                    .activation = model_choices_activation(set)};
    return (struct stack){.batch = (size_t)parameter_integer(set, "batch"),
                          .layers = (size_t)parameter_integer(set, "layers"),
                          .heads = options.heads,
                          .layer = layer_make(&layer_torch_encoder_block, "", shape, 0, &options)};
}

static void lay_out(struct stack *stack, struct arena *arena) {
    size_t count = stack->batch * stack->layer.input.steps * stack->layer.input.width;
    stack->parameters = arena_floats(arena, stack->layers * stack->layer.parameter_count);
    stack->input = arena_floats(arena, count);
    stack->output = arena_floats(arena, count);
    stack->next = arena_floats(arena, count);
    stack->saved = arena_floats(arena, layer_saved_size(&stack->layer, stack->batch));
    stack->scratch = arena_floats(arena, layer_scratch_size(&stack->layer, stack->batch));
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    (void)data;
    int64_t width = parameter_integer(set, "width"), heads = parameter_integer(set, "heads");
    if (width % heads != 0) {
        parameter_faults_add(faults, "heads", "must divide the width, %lld; got %lld", (long long)width,
                             (long long)heads);
        return;
    }
    int64_t numbers = width * parameter_integer(set, "batch") * parameter_integer(set, "tokens");
    if (numbers > NUMBERS_MAXIMUM)
        parameter_faults_add(faults, "tokens", "times batch and width must be at most %d numbers; got %lld",
                             NUMBERS_MAXIMUM, (long long)numbers);
}

static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { NUMBERS_OF_LAYER = 6 * 20 }; /* the texts that describe a part are as long as 20 numbers */
    (void)data;
    struct stack stack = stack_of(set);
    struct arena measure = arena_measuring();
    lay_out(&stack, &measure);
    double layers = (double)stack.layers, parameters = layers * (double)stack.layer.parameter_count;
    double count = (double)stack.batch * (double)stack.layer.input.steps * (double)stack.layer.input.width;
    struct run_cost cost = {
        .work = {[WORK_ARITHMETIC] = layers * (double)stack.batch * layer_operations(&stack.layer),
                 [WORK_DRAWS] = parameters + count}};
    run_cost_add_memory(&cost, (double)measure.used);
    run_cost_add_result(&cost, 2 * count + NUMBERS_OF_LAYER * layers + 20);
    return cost;
}

/* Draws the blocks' weights in order, then the input. ERROR_CANCELLED if the run is cancelled. */
static bool draw(struct stack *stack, const struct experiment_context *context, struct error *error) {
    struct torch_generator generator;
    torch_generator_seed(&generator, (uint64_t)parameter_integer(context->parameters, "seed"));
    for (size_t i = 0; i < stack->layers; i++) {
        if (!experiment_check_cancelled(context, error))
            return false;
        stack->layer.type->initialise(&stack->layer, stack->parameters + i * stack->layer.parameter_count,
                                      &generator);
    }
    torch_normal(&generator, stack->input, stack->batch * stack->layer.input.steps * stack->layer.input.width,
                 0, 1);
    return true;
}

/* ERROR_CANCELLED if the run is cancelled. */
static bool forward(struct stack *stack, const struct experiment_context *context, struct error *error) {
    struct layer_pass pass = {.kernels = kernels_choose(), .count = stack->batch, .scratch = stack->scratch};
    const float *input = stack->input;
    for (size_t i = 0; i < stack->layers; i++) {
        if (!experiment_check_cancelled(context, error))
            return false;
        float *output = i % 2 == (stack->layers - 1) % 2 ? stack->output : stack->next;
        stack->layer.type->forward(&stack->layer, stack->parameters + i * stack->layer.parameter_count, input,
                                   output, stack->saved, &pass);
        input = output;
        experiment_report_progress(context, i + 1, stack->layers, "layers");
    }
    return true;
}

static void write_part(const struct result_sink *sink, const struct stack *stack, size_t layer,
                       const char *part, const char *job, size_t parameter_count) {
    const int64_t shape[] = {(int64_t)stack->batch, (int64_t)stack->layer.input.steps,
                             (int64_t)stack->layer.input.width};
    result_begin_object(sink, NULL);
    result_integer(sink, "layer", (int64_t)layer);
    result_text(sink, "part", part);
    result_text(sink, "job", job);
    result_integer(sink, "parameter_count", (int64_t)parameter_count);
    result_integers(sink, "shape", shape, 3);
    result_end_object(sink);
}

/* A block's parts, by the place of its norms and in the order in which data passes them. */
enum part { PART_ATTENTION, PART_FEEDFORWARD, PART_SUM, PART_NORM };

static const struct part_text {
    enum part part;
    const char *job;
} part_texts[][6] = {
    [BLOCK_NORM_LAST] =
        {
            {PART_ATTENTION, "lets every token gather information from the others, each head in its own way"},
            {PART_SUM, "adds the attention's input to its output, so that the gradient can bypass it"},
            {PART_NORM, "brings every token back to mean 0 and spread 1"},
            {PART_FEEDFORWARD, "processes each token on its own, with the information it has gathered"},
            {PART_SUM, "adds the feed-forward part's input to its output"},
            {PART_NORM, "keeps the block's output at the scale of its input"},
        },
    [BLOCK_NORM_FIRST] =
        {
            {PART_NORM, "gives the attention tokens of mean 0 and spread 1"},
            {PART_ATTENTION, "lets every token gather information from the others, each head in its own way"},
            {PART_SUM, "adds the block's input to it; nothing on this path changes what passes"},
            {PART_NORM, "gives the feed-forward part tokens of mean 0 and spread 1"},
            {PART_FEEDFORWARD, "processes each token on its own, with the information it has gathered"},
            {PART_SUM, "adds the sum before it; the block's output has been through no norm"},
        },
};

static void write_parts(const struct result_sink *sink, const struct stack *stack) {
    size_t width = stack->layer.input.width, hidden = stack->layer.options.feedforward_width;
    static const char *const names[] = {[PART_ATTENTION] = "multi-head attention",
                                        [PART_FEEDFORWARD] = "feed-forward",
                                        [PART_SUM] = "residual connection",
                                        [PART_NORM] = "layer norm"};
    const size_t counts[] = {[PART_ATTENTION] = multi_head_layout_torch(width).parameter_count,
                             [PART_FEEDFORWARD] = feedforward_parameter_count(width, hidden),
                             [PART_SUM] = 0,
                             [PART_NORM] = 2 * width};
    result_begin_array(sink, "parts");
    for (size_t i = 0; i < stack->layers; i++)
        for (size_t j = 0; j < sizeof part_texts[0] / sizeof part_texts[0][0]; j++) {
            const struct part_text *text = &part_texts[stack->layer.options.norm][j];
            write_part(sink, stack, i, names[text->part], text->job, counts[text->part]);
        }
    result_end_array(sink);
}

static void write_result(const struct result_sink *sink, const struct stack *stack) {
    size_t tokens = stack->layer.input.steps, width = stack->layer.input.width;
    const int64_t shape[] = {(int64_t)stack->batch, (int64_t)tokens, (int64_t)width};
    const int64_t attention[] = {(int64_t)stack->batch, (int64_t)stack->heads, (int64_t)tokens,
                                 (int64_t)tokens};
    result_begin_object(sink, NULL);
    write_parts(sink, stack);
    result_integer(sink, "parameter_count", (int64_t)(stack->layers * stack->layer.parameter_count));
    result_integers(sink, "input_shape", shape, 3);
    result_integers(sink, "output_shape", shape, 3);
    /* The shape of the attention weights inside each block. */
    result_integers(sink, "weights_shape", attention, 4);
    result_tensor(sink, "input", stack->input, stack->batch, tokens, width);
    result_tensor(sink, "output", stack->output, stack->batch, tokens, width);
    result_end_object(sink);
}

static bool run(struct experiment_context *context, struct error *error) {
    struct stack stack = stack_of(context->parameters);
    struct arena measure = arena_measuring(), arena;
    lay_out(&stack, &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    lay_out(&stack, &arena);
    matrix_use_one_thread();
    bool done = draw(&stack, context, error) && forward(&stack, context, error);
    if (done)
        write_result(&context->result, &stack);
    arena_free(&arena);
    return done;
}

const struct experiment experiment_transformer_block = {
    .name = "transformer-block",
    .title = "A transformer block and its parts",
    .summary =
        "Lists the parts of an encoder block with their jobs, shapes and parameters, and runs it on drawn "
        "tokens.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
