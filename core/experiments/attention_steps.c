/* attention-steps: softmax(Q K^T / sqrt(d_k)) V, one step at a time (Vaswani et al. 2017, section 3.2.1).
 *
 * A preset chooses Q, K and V. The steps then follow in the order of the formula, and the result contains
 * every intermediate matrix. */
#include "core/experiments/experiments.h"
#include "core/math/arena.h"
#include "core/math/matrix.h"
#include "core/math/softmax.h"
#include "core/model/choices.h"
#include "core/random/torch_init.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIDE_MAXIMUM = 512 };

/* The first self-attention example of the lecture notebook. */
enum { HEAD_BATCH = 4, HEAD_TOKENS = 8, HEAD_INPUT_WIDTH = 32, HEAD_WIDTH = 16, HEAD_SEED = 1337 };

static const char *const presets[] = {"drawn", "worked", "causal-head", "given", NULL};

static const struct parameter_declaration declarations[] = {
    {.name = "preset",
     .type = PARAMETER_CHOICE,
     .title = "Preset",
     .meaning = "Where Q, K and V come from: projections of drawn tokens, one query and three keys to follow "
                "by hand, a causal head over eight drawn tokens, or matrices of your own.",
     .choices = presets,
     .default_text = "drawn",
     .default_depends = true,
     .default_note = "given if q, k or v is given"},
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream, for the presets drawn and causal-head.",
     .maximum = SEED_MAXIMUM,
     .default_depends = true,
     .default_note = "causal-head: 1337"},
    {.name = "tokens",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_LENGTH,
     .title = "Tokens",
     .meaning = "The number of tokens in the preset drawn.",
     .minimum = 1,
     .maximum = SIDE_MAXIMUM,
     .default_number = 4,
     .default_depends = true,
     .default_note = "drawn only"},
    {.name = "width",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_WIDTH,
     .title = "Width",
     .meaning = "The width of a token, and d_k, in the preset drawn.",
     .minimum = 1,
     .maximum = SIDE_MAXIMUM,
     .default_number = 8,
     .default_depends = true,
     .default_note = "drawn only"},
    {.name = "q",
     .type = PARAMETER_MATRIX,
     .cost = PARAMETER_COST_NONE,
     .title = "Q",
     .meaning = "The queries, one per row; only for the preset given.",
     .length_maximum = SIDE_MAXIMUM},
    {.name = "k",
     .type = PARAMETER_MATRIX,
     .cost = PARAMETER_COST_NONE,
     .title = "K",
     .meaning = "The keys, one per row, as wide as the queries; only for the preset given.",
     .length_maximum = SIDE_MAXIMUM},
    {.name = "v",
     .type = PARAMETER_MATRIX,
     .cost = PARAMETER_COST_NONE,
     .title = "V",
     .meaning = "The values, one row for each key; only for the preset given.",
     .length_maximum = SIDE_MAXIMUM},
    {.name = "mask",
     .type = PARAMETER_CHOICE,
     .title = "Mask",
     .meaning = "causal: query i sees no key after key i.",
     .choices = model_choices_masks,
     .default_text = "none",
     .default_depends = true,
     .default_note = "causal-head: causal"},
    {.name = "mask_matrix",
     .type = PARAMETER_MATRIX,
     .cost = PARAMETER_COST_NONE,
     .title = "Mask matrix",
     .meaning = "A row for each query, a column for each key; 0 hides the key from the query, in addition to "
                "the mask. A query that sees no key gets zero weights and a zero output.",
     .length_maximum = SIDE_MAXIMUM},
    {.name = "scale",
     .type = PARAMETER_BOOLEAN,
     .title = "Scale",
     .meaning = "Whether the scores are divided by sqrt(d_k).",
     .default_number = 1,
     .default_depends = true,
     .default_note = "causal-head: false"},
};

enum { DECLARATION_COUNT = sizeof declarations / sizeof declarations[0] };

static bool is_preset(const struct parameter_set *set, const char *preset) {
    return strcmp(parameter_text(set, "preset"), preset) == 0;
}

static void default_text(struct parameter_set *set, const char *name, const char *value,
                         struct parameter_faults *faults) {
    if (!parameter_is_set(set, name))
        parameter_set_text(set, (size_t)parameter_find(set, name), value, faults);
}

static void default_integer(struct parameter_set *set, const char *name, int64_t value,
                            struct parameter_faults *faults) {
    if (!parameter_is_set(set, name))
        parameter_set_integer(set, (size_t)parameter_find(set, name), value, faults);
}

static bool complete(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error) {
    (void)memory_limit_bytes;
    (void)data;
    (void)error;
    bool any_given = parameter_is_set(set, "q") || parameter_is_set(set, "k") || parameter_is_set(set, "v");
    default_text(set, "preset", any_given ? "given" : "drawn", faults);
    bool head = is_preset(set, "causal-head"), drawn = is_preset(set, "drawn");
    if (drawn) {
        default_integer(set, "tokens", 4, faults);
        default_integer(set, "width", 8, faults);
    }
    if (drawn || head)
        default_integer(set, "seed", head ? HEAD_SEED : 0, faults);
    default_text(set, "mask", head ? "causal" : "none", faults);
    if (!parameter_is_set(set, "scale"))
        parameter_set_boolean(set, (size_t)parameter_find(set, "scale"), !head, faults);
    return true;
}

static bool has_fault(const struct parameter_faults *faults, const char *field) {
    for (size_t i = 0; i < faults->count; i++)
        if (strcmp(faults->items[i].field, field) == 0)
            return true;
    return false;
}

/* The sizes that the preset and the parameters determine; key_width is d_k. */
struct sizes {
    size_t queries, keys, key_width, value_width;
};

static struct sizes sizes_of(const struct parameter_set *set) {
    if (is_preset(set, "worked"))
        return (struct sizes){1, 3, 4, 2};
    if (is_preset(set, "causal-head"))
        return (struct sizes){HEAD_TOKENS, HEAD_TOKENS, HEAD_WIDTH, HEAD_WIDTH};
    if (is_preset(set, "given"))
        return (struct sizes){parameter_value(set, "q")->rows, parameter_value(set, "k")->rows,
                              parameter_value(set, "q")->columns, parameter_value(set, "v")->columns};
    size_t tokens = (size_t)parameter_integer(set, "tokens"), width = (size_t)parameter_integer(set, "width");
    return (struct sizes){tokens, tokens, width, width};
}

/* Checks q, k and v. Returns false if the preset needs them and one is missing. */
static bool validate_matrices(const struct parameter_set *set, struct parameter_faults *faults) {
    static const char *const names[] = {"q", "k", "v"};
    bool given = is_preset(set, "given"), complete_set = true;
    for (size_t i = 0; i < 3; i++) {
        bool there = parameter_is_set(set, names[i]);
        complete_set = complete_set && there;
        if (given && !there && !has_fault(faults, names[i]))
            parameter_faults_add(faults, names[i], "is required by the preset given");
        if (!given && there)
            parameter_faults_add(faults, names[i], "needs the preset given; the preset is %s",
                                 parameter_text(set, "preset"));
    }
    if (!given)
        return true;
    if (!complete_set)
        return false;
    const struct parameter_value *q = parameter_value(set, "q"), *k = parameter_value(set, "k"),
                                 *v = parameter_value(set, "v");
    if (k->columns != q->columns)
        parameter_faults_add(faults, "k", "must have as many columns as q, %zu; got %zu", q->columns,
                             k->columns);
    if (v->rows != k->rows)
        parameter_faults_add(faults, "v", "must have a row for each of the %zu rows of k; got %zu", k->rows,
                             v->rows);
    return true;
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    (void)data;
    if (!validate_matrices(set, faults) || !parameter_is_set(set, "mask_matrix"))
        return;
    struct sizes sizes = sizes_of(set);
    const struct parameter_value *mask = parameter_value(set, "mask_matrix");
    if (mask->rows != sizes.queries || mask->columns != sizes.keys)
        parameter_faults_add(faults, "mask_matrix",
                             "must have %zu x %zu entries, one for each query and key; got %zu x %zu",
                             sizes.queries, sizes.keys, mask->rows, mask->columns);
}

/* All matrices of one run, row-major. */
struct steps {
    struct sizes sizes;
    size_t input_width; /* 0: Q, K and V are not projected from an input */
    float *input;       /* [batch][queries][input_width]; the result shows the first example */
    float *weight;      /* [key_width][input_width], reused for each projection */
    float *q, *k, *v;   /* [queries][key_width], [keys][key_width], [keys][value_width] */
    float *scores, *scaled, *masked, *weights; /* [queries][keys] */
    float *row_sums;                           /* [queries] */
    float *output;                             /* [queries][value_width] */
};

static void lay_out(struct steps *steps, size_t batch, struct arena *arena) {
    struct sizes sizes = steps->sizes;
    size_t pairs = sizes.queries * sizes.keys;
    steps->input = arena_floats(arena, batch * sizes.queries * steps->input_width);
    steps->weight = arena_floats(arena, sizes.key_width * steps->input_width);
    steps->q = arena_floats(arena, sizes.queries * sizes.key_width);
    steps->k = arena_floats(arena, sizes.keys * sizes.key_width);
    steps->v = arena_floats(arena, sizes.keys * sizes.value_width);
    steps->scores = arena_floats(arena, pairs);
    steps->scaled = arena_floats(arena, pairs);
    steps->masked = arena_floats(arena, pairs);
    steps->weights = arena_floats(arena, pairs);
    steps->row_sums = arena_floats(arena, sizes.queries);
    steps->output = arena_floats(arena, sizes.queries * sizes.value_width);
}

/* The result has every matrix. Matrices that the user gave are also in memory as values, twice while the run
 * is created, and as text. */
static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { GIVEN_BYTES = 3 * sizeof(float) + 3 * 18, LABELS = 4, MATRICES_OF_PAIRS = 4 };
    (void)data;
    struct steps steps = {.sizes = sizes_of(set)};
    bool head = is_preset(set, "causal-head");
    steps.input_width = head ? HEAD_INPUT_WIDTH : is_preset(set, "drawn") ? steps.sizes.key_width : 0;
    struct arena measure = arena_measuring();
    lay_out(&steps, head ? HEAD_BATCH : 1, &measure);
    double queries = (double)steps.sizes.queries, keys = (double)steps.sizes.keys;
    double key_width = (double)steps.sizes.key_width, value_width = (double)steps.sizes.value_width;
    double given = 0, input = (double)steps.input_width;
    for (size_t i = 0; i < set->count; i++)
        given += set->declarations[i].type == PARAMETER_MATRIX
                     ? (double)set->values[i].rows * (double)set->values[i].columns
                     : 0;
    struct run_cost cost = {
        .work = {[WORK_ARITHMETIC] = 2 * queries * keys * (key_width + value_width + MATRICES_OF_PAIRS * 10) +
                                     6 * queries * input * key_width,
                 [WORK_DRAWS] = queries * input + 3 * key_width * input}};
    run_cost_add_memory(&cost, (double)measure.used + given * GIVEN_BYTES);
    run_cost_add_result(&cost, queries * (input + key_width + value_width + LABELS) +
                                   keys * (key_width + value_width + LABELS) +
                                   MATRICES_OF_PAIRS * queries * keys + 20);
    return cost;
}

/* Draws a linear map without bias and applies it to the first example's tokens. */
static void project(struct steps *steps, struct torch_generator *generator, float *projected) {
    torch_init_linear(generator, steps->input_width, steps->sizes.key_width, steps->weight, NULL);
    matrix_multiply_transposed_b(steps->sizes.queries, steps->sizes.key_width, steps->input_width, 1,
                                 steps->input, steps->input_width, steps->weight, steps->input_width, 0,
                                 projected, steps->sizes.key_width);
}

/* The preset drawn: one example; draws the projections in the order query, key, value. */
static void fill_drawn(struct steps *steps, struct torch_generator *generator) {
    torch_normal(generator, steps->input, steps->sizes.queries * steps->input_width, 0, 1);
    project(steps, generator, steps->q);
    project(steps, generator, steps->k);
    project(steps, generator, steps->v);
}

/* The notebook's head: draws a whole batch, and the key's projection before the query's. */
static void fill_causal_head(struct steps *steps, struct torch_generator *generator) {
    torch_normal(generator, steps->input, HEAD_BATCH * HEAD_TOKENS * HEAD_INPUT_WIDTH, 0, 1);
    project(steps, generator, steps->k);
    project(steps, generator, steps->q);
    project(steps, generator, steps->v);
}

/* One query and three keys: one equal to it, one at a right angle to it, and one in between. */
static void fill_worked(struct steps *steps) {
    static const float q[] = {1, 0, 0, 0};
    static const float k[] = {1, 0, 0, 0, 0, 1, 0, 0, 0.7f, 0.7f, 0, 0};
    static const float v[] = {10, 0, 0, 10, 5, 5};
    memcpy(steps->q, q, sizeof q);
    memcpy(steps->k, k, sizeof k);
    memcpy(steps->v, v, sizeof v);
}

static void fill_given(struct steps *steps, const struct parameter_set *set) {
    struct sizes sizes = steps->sizes;
    memcpy(steps->q, parameter_value(set, "q")->matrix, sizes.queries * sizes.key_width * sizeof(float));
    memcpy(steps->k, parameter_value(set, "k")->matrix, sizes.keys * sizes.key_width * sizeof(float));
    memcpy(steps->v, parameter_value(set, "v")->matrix, sizes.keys * sizes.value_width * sizeof(float));
}

static bool is_hidden(const struct parameter_set *set, size_t query, size_t key) {
    const struct parameter_value *mask = parameter_value(set, "mask_matrix");
    bool after = model_choices_mask(set) == ATTENTION_MASK_CAUSAL && key > query;
    return after || (mask->is_set && mask->matrix[query * mask->columns + key] == 0);
}

/* Looks at the mask, not at the scores: a score that overflowed may be minus infinity too. */
static bool sees_nothing(const struct parameter_set *set, size_t query, size_t keys) {
    for (size_t j = 0; j < keys; j++)
        if (!is_hidden(set, query, j))
            return false;
    return true;
}

static void compute(struct steps *steps, const struct parameter_set *set) {
    size_t queries = steps->sizes.queries, keys = steps->sizes.keys, d_k = steps->sizes.key_width;
    matrix_multiply_transposed_b(queries, keys, d_k, 1, steps->q, d_k, steps->k, d_k, 0, steps->scores, keys);
    float divisor = parameter_boolean(set, "scale") ? (float)sqrt((double)d_k) : 1;
    for (size_t i = 0; i < queries * keys; i++) {
        steps->scaled[i] = steps->scores[i] / divisor;
        steps->masked[i] = is_hidden(set, i / keys, i % keys) ? -INFINITY : steps->scaled[i];
        steps->weights[i] = steps->masked[i];
    }
    softmax_rows(steps->weights, queries, keys, 1);
    for (size_t i = 0; i < queries; i++)
        if (sees_nothing(set, i, keys))
            memset(steps->weights + i * keys, 0, keys * sizeof *steps->weights);
    for (size_t i = 0; i < queries; i++)
        for (size_t j = 0; j < keys; j++)
            steps->row_sums[i] += steps->weights[i * keys + j];
    matrix_multiply(queries, steps->sizes.value_width, keys, 1, steps->weights, keys, steps->v,
                    steps->sizes.value_width, 0, steps->output, steps->sizes.value_width);
}

static void write_labels(const struct result_sink *sink, const char *key, const char *stem, size_t count) {
    result_begin_array(sink, key);
    for (size_t i = 0; i < count; i++) {
        char label[40];
        snprintf(label, sizeof label, "%s %zu", stem, i);
        result_text(sink, NULL, label);
    }
    result_end_array(sink);
}

static void write_worked_labels(const struct result_sink *sink) {
    result_begin_array(sink, "key_labels");
    result_text(sink, NULL, "key 0: equal to the query");
    result_text(sink, NULL, "key 1: at a right angle");
    result_text(sink, NULL, "key 2: in between");
    result_end_array(sink);
}

/* Lists the queries that see no key, and describes every anomaly in words. */
static void write_notes(const struct result_sink *sink, const struct steps *steps,
                        const struct parameter_set *set) {
    bool overflow = false;
    for (size_t i = 0; i < steps->sizes.queries * steps->sizes.keys; i++)
        overflow = overflow || !isfinite(steps->scores[i]);
    result_begin_array(sink, "hidden_queries");
    for (size_t i = 0; i < steps->sizes.queries; i++)
        if (sees_nothing(set, i, steps->sizes.keys))
            result_integer(sink, NULL, (int64_t)i);
    result_end_array(sink);
    result_begin_array(sink, "notes");
    for (size_t i = 0; i < steps->sizes.queries; i++)
        if (sees_nothing(set, i, steps->sizes.keys)) {
            char note[100];
            snprintf(note, sizeof note, "Query %zu sees no key: its weights and its output are all zero.", i);
            result_text(sink, NULL, note);
        }
    if (overflow)
        result_text(
            sink, NULL,
            "Some scores are too large for float32; they and all values computed from them are null.");
    result_end_array(sink);
}

static void write_result(const struct result_sink *sink, const struct steps *steps,
                         const struct parameter_set *set) {
    struct sizes sizes = steps->sizes;
    if (steps->input_width > 0)
        result_matrix(sink, "input", steps->input, sizes.queries, steps->input_width);
    result_matrix(sink, "q", steps->q, sizes.queries, sizes.key_width);
    result_matrix(sink, "k", steps->k, sizes.keys, sizes.key_width);
    result_matrix(sink, "v", steps->v, sizes.keys, sizes.value_width);
    result_matrix(sink, "scores", steps->scores, sizes.queries, sizes.keys);
    result_matrix(sink, "scaled", steps->scaled, sizes.queries, sizes.keys);
    result_matrix(sink, "masked", steps->masked, sizes.queries, sizes.keys);
    result_matrix(sink, "weights", steps->weights, sizes.queries, sizes.keys);
    result_vector(sink, "row_sums", steps->row_sums, sizes.queries);
    result_matrix(sink, "output", steps->output, sizes.queries, sizes.value_width);
    result_integer(sink, "d_k", (int64_t)sizes.key_width);
    result_real(sink, "divisor", parameter_boolean(set, "scale") ? (float)sqrt((double)sizes.key_width) : 1);
    bool same_tokens = steps->input_width > 0;
    write_labels(sink, "query_labels", same_tokens ? "token" : "query", sizes.queries);
    if (is_preset(set, "worked"))
        write_worked_labels(sink);
    else
        write_labels(sink, "key_labels", same_tokens ? "token" : "key", sizes.keys);
    write_notes(sink, steps, set);
}

/* The unbiased variance, like tensor.var(). */
static double variance(const float *values, size_t count) {
    double mean = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        mean += (double)values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        sum += ((double)values[i] - mean) * ((double)values[i] - mean);
    return sum / (double)(count - 1);
}

/* The notebook's last lines: draws keys and queries of unit variance from the same stream. The variance of
 * their scores is about d_k, that of the scaled scores about 1. */
static bool write_variances(const struct result_sink *sink, struct torch_generator *generator,
                            struct error *error) {
    enum { ROWS = HEAD_BATCH * HEAD_TOKENS, COUNT = ROWS * HEAD_WIDTH, PAIRS = ROWS * HEAD_TOKENS };
    struct arena arena;
    if (!arena_init(&arena, (2 * COUNT + PAIRS) * sizeof(float) + 3 * ARENA_ALIGNMENT, error))
        return false;
    float *k = arena_floats(&arena, COUNT), *q = arena_floats(&arena, COUNT);
    float *scores = arena_floats(&arena, PAIRS);
    torch_normal(generator, k, COUNT, 0, 1);
    torch_normal(generator, q, COUNT, 0, 1);
    for (size_t b = 0; b < HEAD_BATCH; b++)
        matrix_multiply_transposed_b(HEAD_TOKENS, HEAD_TOKENS, HEAD_WIDTH, 1,
                                     q + b * HEAD_TOKENS * HEAD_WIDTH, HEAD_WIDTH,
                                     k + b * HEAD_TOKENS * HEAD_WIDTH, HEAD_WIDTH, 0,
                                     scores + b * HEAD_TOKENS * HEAD_TOKENS, HEAD_TOKENS);
    result_begin_object(sink, "variance");
    result_number(sink, "k", variance(k, COUNT));
    result_number(sink, "q", variance(q, COUNT));
    result_number(sink, "scores", variance(scores, PAIRS));
    result_number(sink, "scaled", variance(scores, PAIRS) / HEAD_WIDTH);
    result_end_object(sink);
    arena_free(&arena);
    return true;
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_set *set = context->parameters;
    bool head = is_preset(set, "causal-head");
    struct steps steps = {.sizes = sizes_of(set)};
    if (is_preset(set, "drawn"))
        steps.input_width = steps.sizes.key_width;
    if (head)
        steps.input_width = HEAD_INPUT_WIDTH;
    size_t batch = head ? HEAD_BATCH : 1;
    struct arena measure = arena_measuring(), arena;
    lay_out(&steps, batch, &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    lay_out(&steps, batch, &arena);
    struct torch_generator generator;
    torch_generator_seed(&generator, (uint64_t)parameter_integer(set, "seed"));
    if (head)
        fill_causal_head(&steps, &generator);
    else if (is_preset(set, "drawn"))
        fill_drawn(&steps, &generator);
    else if (is_preset(set, "worked"))
        fill_worked(&steps);
    else
        fill_given(&steps, set);
    matrix_use_one_thread();
    compute(&steps, set);
    result_begin_object(&context->result, NULL);
    write_result(&context->result, &steps, set);
    bool done = !head || write_variances(&context->result, &generator, error);
    result_end_object(&context->result);
    arena_free(&arena);
    experiment_report_progress(context, 1, 1, "steps");
    return done;
}

const struct experiment experiment_attention_steps = {
    .name = "attention-steps",
    .title = "Attention, step by step",
    .summary =
        "Shows scores, scaling, mask, softmax and output of one attention head, one matrix after another.",
    .parameters = declarations,
    .parameter_count = DECLARATION_COUNT,
    .complete = complete,
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
