/* running-average: computes the mean of a token and all tokens before it in three ways.
 *
 * The ways are a loop, a product with a lower triangular matrix whose rows sum to 1, and a softmax over
 * scores that are zero, but minus infinity above the diagonal. The last is attention that does not yet look
 * at its tokens. */
#include "core/experiments/experiments.h"
#include "core/math/arena.h"
#include "core/math/matrix.h"
#include "core/math/softmax.h"
#include "core/random/torch_random.h"

#include <math.h>

/* A page can show at most three tensors of this many numbers. */
enum { NUMBERS_MAXIMUM = 65536 };

static const struct parameter_declaration declarations[] = {
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream, from which the tokens are drawn.",
     .maximum = SEED_MAXIMUM,
     .default_number = 1337},
    {.name = "batch",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Batch",
     .meaning = "How many sequences.",
     .minimum = 1,
     .maximum = 64,
     .default_number = 4},
    {.name = "tokens",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Tokens",
     .meaning = "How many tokens a sequence has.",
     .minimum = 1,
     .maximum = 256,
     .default_number = 8},
    {.name = "channels",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .title = "Channels",
     .meaning = "How many numbers a token has.",
     .minimum = 1,
     .maximum = 256,
     .default_number = 2},
};

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    (void)data;
    int64_t numbers = parameter_integer(set, "batch") * parameter_integer(set, "tokens") *
                      parameter_integer(set, "channels");
    if (numbers > NUMBERS_MAXIMUM)
        parameter_faults_add(faults, "tokens",
                             "times batch and channels must be at most %d numbers; got %lld", NUMBERS_MAXIMUM,
                             (long long)numbers);
}

struct averages {
    size_t batch, tokens, channels;
    float *x, *loop, *matrix, *softmax;             /* [batch][tokens][channels] */
    float *triangle, *averaging, *masked, *weights; /* [tokens][tokens] */
};

static void lay_out(struct averages *averages, struct arena *arena) {
    size_t count = averages->batch * averages->tokens * averages->channels;
    size_t pairs = averages->tokens * averages->tokens;
    averages->x = arena_floats(arena, count);
    averages->loop = arena_floats(arena, count);
    averages->matrix = arena_floats(arena, count);
    averages->softmax = arena_floats(arena, count);
    averages->triangle = arena_floats(arena, pairs);
    averages->averaging = arena_floats(arena, pairs);
    averages->masked = arena_floats(arena, pairs);
    averages->weights = arena_floats(arena, pairs);
}

static struct averages averages_of(const struct parameter_set *set) {
    return (struct averages){.batch = (size_t)parameter_integer(set, "batch"),
                             .tokens = (size_t)parameter_integer(set, "tokens"),
                             .channels = (size_t)parameter_integer(set, "channels")};
}

static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { TENSORS = 4, MATRICES = 4, OPERATIONS_OF_SUM = 20, OPERATIONS_OF_PRODUCTS = 4 };
    (void)data;
    struct averages averages = averages_of(set);
    struct arena measure = arena_measuring();
    lay_out(&averages, &measure);
    double tokens = (double)averages.tokens,
           count = (double)averages.batch * tokens * (double)averages.channels;
    struct run_cost cost = {
        .work = {[WORK_ARITHMETIC] = count * tokens * (OPERATIONS_OF_SUM + OPERATIONS_OF_PRODUCTS),
                 [WORK_DRAWS] = count}};
    run_cost_add_memory(&cost, (double)measure.used);
    run_cost_add_result(&cost, TENSORS * count + MATRICES * tokens * tokens + 1);
    return cost;
}

/* The first way: adds up the tokens so far and divides by their number. */
static void average_by_loop(struct averages *averages) {
    size_t channels = averages->channels;
    for (size_t b = 0; b < averages->batch; b++) {
        const float *x = averages->x + b * averages->tokens * channels;
        float *mean = averages->loop + b * averages->tokens * channels;
        for (size_t t = 0; t < averages->tokens; t++)
            for (size_t c = 0; c < channels; c++) {
                float sum = 0;
                for (size_t s = 0; s <= t; s++)
                    sum += x[s * channels + c];
                mean[t * channels + c] = sum / (float)(t + 1);
            }
    }
}

/* The matrices of the other two ways: ones on and below the diagonal with each row divided by its sum, and
 * the softmax of scores that are zero and hidden above the diagonal. */
static void fill_matrices(struct averages *averages) {
    size_t tokens = averages->tokens;
    for (size_t i = 0; i < tokens; i++)
        for (size_t j = 0; j < tokens; j++) {
            bool seen = j <= i;
            averages->triangle[i * tokens + j] = seen ? 1 : 0;
            averages->averaging[i * tokens + j] = seen ? 1 / (float)(i + 1) : 0;
            averages->masked[i * tokens + j] = seen ? 0 : -INFINITY;
            averages->weights[i * tokens + j] = averages->masked[i * tokens + j];
        }
    softmax_rows(averages->weights, tokens, tokens, 1);
}

static void average_by_product(const struct averages *averages, const float *weights, float *means) {
    size_t tokens = averages->tokens, channels = averages->channels;
    for (size_t b = 0; b < averages->batch; b++)
        matrix_multiply(tokens, channels, tokens, 1, weights, tokens, averages->x + b * tokens * channels,
                        channels, 0, means + b * tokens * channels, channels);
}

static float largest_difference(const float *a, const float *b, size_t count) {
    float largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmaxf(largest, fabsf(a[i] - b[i]));
    return largest;
}

static void write_result(const struct result_sink *sink, const struct averages *averages) {
    size_t batch = averages->batch, tokens = averages->tokens, channels = averages->channels;
    size_t count = batch * tokens * channels;
    float difference = largest_difference(averages->loop, averages->matrix, count);
    difference = fmaxf(difference, largest_difference(averages->loop, averages->softmax, count));
    difference = fmaxf(difference, largest_difference(averages->matrix, averages->softmax, count));
    result_begin_object(sink, NULL);
    result_tensor(sink, "x", averages->x, batch, tokens, channels);
    result_tensor(sink, "loop", averages->loop, batch, tokens, channels);
    result_tensor(sink, "matrix", averages->matrix, batch, tokens, channels);
    result_tensor(sink, "softmax", averages->softmax, batch, tokens, channels);
    result_matrix(sink, "triangle", averages->triangle, tokens, tokens);
    result_matrix(sink, "averaging", averages->averaging, tokens, tokens);
    result_matrix(sink, "masked", averages->masked, tokens, tokens);
    result_matrix(sink, "weights", averages->weights, tokens, tokens);
    result_real(sink, "max_difference", difference);
    result_end_object(sink);
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_set *set = context->parameters;
    struct averages averages = averages_of(set);
    struct arena measure = arena_measuring(), arena;
    lay_out(&averages, &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    lay_out(&averages, &arena);
    struct torch_generator generator;
    torch_generator_seed(&generator, (uint64_t)parameter_integer(set, "seed"));
    torch_normal(&generator, averages.x, averages.batch * averages.tokens * averages.channels, 0, 1);
    matrix_use_one_thread();
    average_by_loop(&averages);
    fill_matrices(&averages);
    average_by_product(&averages, averages.averaging, averages.matrix);
    average_by_product(&averages, averages.weights, averages.softmax);
    write_result(&context->result, &averages);
    arena_free(&arena);
    experiment_report_progress(context, 3, 3, "ways");
    return true;
}

const struct experiment experiment_running_average = {
    .name = "running-average",
    .title = "The average of everything before",
    .summary =
        "Averages each token with all earlier ones by a loop, a triangular matrix and a masked softmax.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
