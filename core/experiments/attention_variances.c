/* The variances of drawn keys, queries and their scores: see attention_variances.h. */
#include "core/experiments/attention_variances.h"

#include "core/math/matrix.h"

struct drawn {
    size_t key_count, query_count, pair_count;
    float *k, *q, *scores;
};

static struct drawn lay_out(const struct attention_steps_sizes *sizes, struct arena *arena) {
    struct drawn drawn = {.key_count = sizes->batch * sizes->keys * sizes->head_size,
                          .query_count = sizes->batch * sizes->queries * sizes->head_size,
                          .pair_count = sizes->batch * sizes->queries * sizes->keys};
    drawn.k = arena_floats(arena, drawn.key_count);
    drawn.q = arena_floats(arena, drawn.query_count);
    drawn.scores = arena_floats(arena, drawn.pair_count);
    return drawn;
}

static double variance(const float *values, size_t count) {
    double mean = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        mean += (double)values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        sum += ((double)values[i] - mean) * ((double)values[i] - mean);
    return sum / ((double)count - 1);
}

bool attention_variances_report(const struct result_sink *sink, const struct attention_steps_sizes *sizes,
                                struct torch_generator *generator, struct error *error) {
    size_t queries = sizes->queries, keys = sizes->keys, d_k = sizes->head_size;
    struct arena measure = arena_measuring(), arena;
    lay_out(sizes, &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    struct drawn drawn = lay_out(sizes, &arena);
    torch_normal(generator, drawn.k, drawn.key_count, 0, 1);
    torch_normal(generator, drawn.q, drawn.query_count, 0, 1);
    for (size_t b = 0; b < sizes->batch; b++)
        matrix_multiply_transposed_b(queries, keys, d_k, 1, drawn.q + b * queries * d_k, d_k,
                                     drawn.k + b * keys * d_k, d_k, 0, drawn.scores + b * queries * keys,
                                     keys);
    double scores = variance(drawn.scores, drawn.pair_count);
    result_begin_object(sink, "variance");
    result_number(sink, "k", variance(drawn.k, drawn.key_count));
    result_number(sink, "q", variance(drawn.q, drawn.query_count));
    result_number(sink, "scores", scores);
    result_number(sink, "scaled", scores / (double)d_k);
    result_end_object(sink);
    arena_free(&arena);
    return true;
}

void attention_variances_add_cost(const struct attention_steps_sizes *sizes, struct run_cost *cost) {
    enum { OPERATIONS_OF_NUMBER = 8 };
    struct arena measure = arena_measuring();
    struct drawn drawn = lay_out(sizes, &measure);
    double numbers = (double)drawn.key_count + (double)drawn.query_count, pairs = (double)drawn.pair_count;
    cost->work[WORK_DRAWS] += numbers;
    cost->work[WORK_ARITHMETIC] +=
        2 * pairs * (double)sizes->head_size + OPERATIONS_OF_NUMBER * (numbers + pairs);
    run_cost_add_memory(cost, (double)measure.used);
}
