/* scaling: shows why the scores are divided by sqrt(d_k) (Vaswani et al. 2017, footnote 4).
 *
 * Measures the spread of q . k for vectors of unit variance, then applies a softmax to scores of that spread,
 * with and without the factor. */
#include "core/experiments/experiments.h"
#include "core/math/arena.h"
#include "core/math/softmax.h"
#include "core/random/torch_random.h"

#include <math.h>

/* The largest tensor drawn: 16 million floats, 64 MB. */
enum { NUMBERS_MAXIMUM = 1 << 24 };

static const struct parameter_declaration declarations[] = {
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream.",
     .maximum = SEED_MAXIMUM,
     .default_number = 0},
    {.name = "dimensions",
     .type = PARAMETER_INTEGER_LIST,
     .cost = PARAMETER_COST_NONE,
     .title = "Dimensions",
     .meaning = "The widths d_k to measure, in this order.",
     .minimum = 1,
     .maximum = 65536,
     .length_maximum = 16,
     .default_text = "4,16,64,256,1024"},
    {.name = "samples",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_EXAMPLES,
     .title = "Samples",
     .meaning = "How many pairs of vectors the spread is measured over.",
     .minimum = 2,
     .maximum = 1000000,
     .default_number = 2000},
    {.name = "keys",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Keys",
     .meaning = "How many keys the softmax shares its weight among.",
     .minimum = 1,
     .maximum = 4096,
     .default_number = 64},
};

static size_t largest_dimension(const struct parameter_set *set) {
    const struct parameter_value *dimensions = parameter_value(set, "dimensions");
    int64_t largest = 1;
    for (size_t i = 0; i < dimensions->count; i++)
        if (dimensions->integers[i] > largest)
            largest = dimensions->integers[i];
    return (size_t)largest;
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    (void)data;
    unsigned long long numbers =
        (unsigned long long)parameter_integer(set, "samples") * largest_dimension(set);
    if (numbers > NUMBERS_MAXIMUM)
        parameter_faults_add(faults, "samples",
                             "times the largest dimension must be at most %d numbers; got %llu",
                             NUMBERS_MAXIMUM, numbers);
}

struct scaling {
    size_t samples, keys;
    float *queries, *vectors;        /* [samples][d_k] */
    float *dots;                     /* [samples] */
    float *draws;                    /* [keys]: one standard normal draw per key */
    float *weights, *weights_scaled; /* [keys] */
};

static void lay_out(struct scaling *scaling, size_t dimension, struct arena *arena) {
    scaling->queries = arena_floats(arena, scaling->samples * dimension);
    scaling->vectors = arena_floats(arena, scaling->samples * dimension);
    scaling->dots = arena_floats(arena, scaling->samples);
    scaling->draws = arena_floats(arena, scaling->keys);
    scaling->weights = arena_floats(arena, scaling->keys);
    scaling->weights_scaled = arena_floats(arena, scaling->keys);
}

static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { OPERATIONS_OF_PRODUCT = 20, OPERATIONS_OF_KEY = 200, FURTHER_NUMBERS = 7 };
    (void)data;
    struct scaling scaling = {.samples = (size_t)parameter_integer(set, "samples"),
                              .keys = (size_t)parameter_integer(set, "keys")};
    const struct parameter_value *dimensions = parameter_value(set, "dimensions");
    struct arena measure = arena_measuring();
    lay_out(&scaling, largest_dimension(set), &measure);
    double keys = (double)scaling.keys;
    struct run_cost cost = {.memory_bytes = 0};
    run_cost_add_memory(&cost, (double)measure.used);
    for (size_t i = 0; i < dimensions->count; i++) {
        double products = (double)scaling.samples * (double)dimensions->integers[i];
        cost.work[WORK_DRAWS] += 2 * products + keys;
        cost.work[WORK_ARITHMETIC] += OPERATIONS_OF_PRODUCT * products + OPERATIONS_OF_KEY * keys;
        run_cost_add_result(&cost, 2 * keys + FURTHER_NUMBERS);
    }
    return cost;
}

/* The unbiased standard deviation, like tensor.std(). */
static float standard_deviation(const float *values, size_t count) {
    double mean = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        mean += (double)values[i];
    mean /= (double)count;
    for (size_t i = 0; i < count; i++)
        squares += ((double)values[i] - mean) * ((double)values[i] - mean);
    return (float)sqrt(squares / (double)(count - 1));
}

static float measure_spread(struct scaling *scaling, size_t dimension, struct torch_generator *generator) {
    size_t count = scaling->samples * dimension;
    torch_normal(generator, scaling->queries, count, 0, 1);
    torch_normal(generator, scaling->vectors, count, 0, 1);
    for (size_t i = 0; i < scaling->samples; i++) {
        double dot = 0;
        for (size_t j = i * dimension; j < (i + 1) * dimension; j++)
            dot += (double)(scaling->queries[j] * scaling->vectors[j]);
        scaling->dots[i] = (float)dot;
    }
    return standard_deviation(scaling->dots, scaling->samples);
}

/* Computes the softmax of the draws times `spread`; returns the largest weight. */
static float share_out(const struct scaling *scaling, float spread, float *weights) {
    for (size_t i = 0; i < scaling->keys; i++)
        weights[i] = scaling->draws[i] * spread;
    softmax_rows(weights, 1, scaling->keys, 1);
    float largest = 0;
    for (size_t i = 0; i < scaling->keys; i++)
        largest = fmaxf(largest, weights[i]);
    return largest;
}

/* How strongly the weights respond to the scores: the trace of the softmax's Jacobian, the sum of w (1 - w).
 * It is 1 - 1/keys if all weights are equal and 0 if one weight is 1. */
static float responsiveness(const float *weights, size_t count) {
    double trace = 0;
    for (size_t i = 0; i < count; i++)
        trace += (double)weights[i] * (1 - (double)weights[i]);
    return (float)trace;
}

static void measure_row(struct scaling *scaling, size_t dimension, struct torch_generator *generator,
                        const struct result_sink *sink) {
    float spread = measure_spread(scaling, dimension, generator);
    float spread_scaled = spread / (float)sqrt((double)dimension);
    torch_normal(generator, scaling->draws, scaling->keys, 0, 1);
    result_begin_object(sink, NULL);
    result_integer(sink, "d_k", (int64_t)dimension);
    result_real(sink, "std", spread);
    result_real(sink, "std_over_sqrt", spread_scaled);
    result_real(sink, "max_weight", share_out(scaling, spread, scaling->weights));
    result_real(sink, "max_weight_scaled", share_out(scaling, spread_scaled, scaling->weights_scaled));
    result_real(sink, "gradient", responsiveness(scaling->weights, scaling->keys));
    result_real(sink, "gradient_scaled", responsiveness(scaling->weights_scaled, scaling->keys));
    result_vector(sink, "weights", scaling->weights, scaling->keys);
    result_vector(sink, "weights_scaled", scaling->weights_scaled, scaling->keys);
    result_end_object(sink);
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_set *set = context->parameters;
    const struct parameter_value *dimensions = parameter_value(set, "dimensions");
    struct scaling scaling = {.samples = (size_t)parameter_integer(set, "samples"),
                              .keys = (size_t)parameter_integer(set, "keys")};
    struct arena measure = arena_measuring(), arena;
    lay_out(&scaling, largest_dimension(set), &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    lay_out(&scaling, largest_dimension(set), &arena);
    struct torch_generator generator;
    torch_generator_seed(&generator, (uint64_t)parameter_integer(set, "seed"));
    bool goes_on = true;
    result_begin_object(&context->result, NULL);
    result_begin_array(&context->result, "rows");
    for (size_t i = 0; i < dimensions->count && goes_on; i++) {
        measure_row(&scaling, (size_t)dimensions->integers[i], &generator, &context->result);
        experiment_report_progress(context, i + 1, dimensions->count, "dimensions");
        goes_on = experiment_check_cancelled(context, error);
    }
    result_end_array(&context->result);
    result_end_object(&context->result);
    arena_free(&arena);
    return goes_on;
}

const struct experiment experiment_scaling = {
    .name = "scaling",
    .title = "Why divide by the square root of d_k",
    .summary = "Measures how the spread of q . k grows with d_k, and how a softmax over it saturates.",
    .parameters = declarations,
    .parameter_count = sizeof declarations / sizeof declarations[0],
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
