/* attention-steps: softmax(Q K^T / sqrt(d_k)) V, one step at a time (Vaswani et al. 2017, section 3.2.1).
 *
 * This file has the parameters and their checks. attention_steps_inputs.c makes Q, K and V,
 * attention_head_steps.c takes the steps of a head, attention_steps_report.c writes all matrices. */
#include "core/experiments/attention_steps_inputs.h"
#include "core/experiments/attention_steps_report.h"
#include "core/experiments/attention_variances.h"
#include "core/experiments/experiments.h"
#include "core/math/matrix.h"
#include "core/model/choices.h"

#include <math.h>
#include <string.h>

enum { SIDE_MAXIMUM = 512, BATCH_MAXIMUM = 64 };

/* The first self-attention example of the lecture notebook. */
enum { HEAD_BATCH = 4, HEAD_TOKENS = 8, HEAD_WIDTH = 32, HEAD_SIZE = 16, HEAD_SEED = 1337 };

static const char *const mask_fills[] = {"minus-infinity", "zero", NULL};
static const char *const softmax_axes[] = {"keys", "queries", NULL};
static const char *const zero_choices[] = {"none", "q", "k", "v", NULL};

#define SIZE_PARAMETER(word, words, sentence, cost_kind, least, most, usual, note)                           \
    {                                                                                                        \
        .name = (word), .type = PARAMETER_INTEGER, .cost = (cost_kind), .title = (words),                    \
        .meaning = (sentence), .minimum = (least), .maximum = (most), .default_number = (usual),             \
        .default_depends = true, .default_note = (note)                                                      \
    }
#define MATRIX_PARAMETER(word, words, sentence)                                                              \
    {                                                                                                        \
        .name = (word), .type = PARAMETER_MATRIX, .cost = PARAMETER_COST_NONE, .title = (words),             \
        .meaning = (sentence), .length_maximum = SIDE_MAXIMUM                                                \
    }

static const struct parameter_declaration declarations[] = {
    {.name = "preset",
     .type = PARAMETER_CHOICE,
     .title = "Preset",
     .meaning =
         "Where Q, K and V come from: maps of drawn tokens, one query and three keys to follow by hand, a "
         "causal head over eight drawn tokens, or matrices of your own.",
     .choices = attention_steps_presets,
     .default_text = "drawn",
     .default_depends = true,
     .default_note = "given if h, q, k or v is given"},
    {.name = "seed",
     .type = PARAMETER_INTEGER,
     .cost = PARAMETER_COST_NONE,
     .title = "Seed",
     .meaning = "Seed of torch's stream, for all that is drawn.",
     .maximum = SEED_MAXIMUM,
     .default_depends = true,
     .default_note = "causal-head: 1337"},
    SIZE_PARAMETER("batch", "Batch", "The number of drawn examples.", PARAMETER_COST_EXAMPLES, 1,
                   BATCH_MAXIMUM, 1, "causal-head: 4"),
    SIZE_PARAMETER("example", "Example", "The example of the batch that is shown, from 0.",
                   PARAMETER_COST_NONE, 0, BATCH_MAXIMUM - 1, 0, NULL),
    SIZE_PARAMETER("tokens", "Tokens", "The number of drawn tokens.", PARAMETER_COST_LENGTH, 1, SIDE_MAXIMUM,
                   4, "causal-head: 8"),
    SIZE_PARAMETER("width", "Width", "The width of a drawn token: its channels.", PARAMETER_COST_WIDTH, 1,
                   SIDE_MAXIMUM, 8, "causal-head: 32"),
    SIZE_PARAMETER("heads", "Heads", "Several heads are those of the lab's MultiHeadAttention.",
                   PARAMETER_COST_NONE, 1, ATTENTION_STEPS_MAXIMUM_HEADS, 1, NULL),
    SIZE_PARAMETER("head_size", "Head size", "The width of a head's queries, keys and values: d_k.",
                   PARAMETER_COST_WIDTH, 1, SIDE_MAXIMUM, 8,
                   "drawn: the width divided by the heads; causal-head: 16"),
    SIZE_PARAMETER(
        "context_tokens", "Context tokens",
        "Cross-attention: keys and values come from a second sequence of so many drawn tokens. 0: from "
        "the tokens themselves.",
        PARAMETER_COST_LENGTH, 0, SIDE_MAXIMUM, 0, NULL),
    MATRIX_PARAMETER("h", "h", "The tokens, one per row; only for the preset given, in place of q, k and v."),
    MATRIX_PARAMETER("w_q", "W_q",
                     "The map to the queries, as nn.Linear has it: heads * head_size rows, a column "
                     "for each channel. Drawn if it is not given."),
    MATRIX_PARAMETER("w_k", "W_k", "The map to the keys, likewise."),
    MATRIX_PARAMETER("w_v", "W_v", "The map to the values, likewise."),
    MATRIX_PARAMETER("q", "Q", "The queries, one per row; only for the preset given."),
    MATRIX_PARAMETER("k", "K", "The keys, one per row, as wide as the queries; only for the preset given."),
    MATRIX_PARAMETER("v", "V", "The values, one row for each key; only for the preset given."),
    {.name = "mask",
     .type = PARAMETER_CHOICE,
     .title = "Mask",
     .meaning = "causal: query i sees no key after key i.",
     .choices = model_choices_masks,
     .default_text = "none",
     .default_depends = true,
     .default_note = "causal-head: causal, unless attention crosses"},
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
    {.name = "mask_fill",
     .type = PARAMETER_CHOICE,
     .title = "Mask fill",
     .meaning =
         "What a hidden score becomes. zero multiplies the scores by a triangle of ones and zeros, a common "
         "mistake.",
     .choices = mask_fills,
     .default_text = "minus-infinity"},
    {.name = "softmax_over",
     .type = PARAMETER_CHOICE,
     .title = "Softmax over",
     .meaning = "The axis of the softmax; the queries are the wrong one.",
     .choices = softmax_axes,
     .default_text = "keys"},
    {.name = "blend",
     .type = PARAMETER_REAL,
     .cost = PARAMETER_COST_NONE,
     .title = "Blend",
     .meaning = "The scores are multiplied by it: 0 is a plain average of what a query may see.",
     .maximum = 1,
     .default_number = 1},
    {.name = "swap",
     .type = PARAMETER_BOOLEAN,
     .title = "Swap Q and K",
     .meaning = "Whether the queries and the keys change places."},
    {.name = "zero",
     .type = PARAMETER_CHOICE,
     .title = "Zero",
     .meaning = "Which of Q, K and V is all zeros.",
     .choices = zero_choices,
     .default_text = "none"},
};

enum { DECLARATION_COUNT = sizeof declarations / sizeof declarations[0] };

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

/* The sizes of drawn tokens. */
static void complete_drawn(struct parameter_set *set, bool is_notebook, struct parameter_faults *faults) {
    default_integer(set, "batch", is_notebook ? HEAD_BATCH : 1, faults);
    default_integer(set, "example", 0, faults);
    default_integer(set, "tokens", is_notebook ? HEAD_TOKENS : 4, faults);
    default_integer(set, "width", is_notebook ? HEAD_WIDTH : 8, faults);
}

/* The width of a head: as the given map has it, or as the width divides. */
static int64_t usual_head_size(const struct parameter_set *set, int64_t width, bool is_notebook) {
    static const char *const maps[] = {"w_q", "w_k", "w_v"};
    int64_t heads = parameter_integer(set, "heads");
    for (size_t i = 0; i < 3; i++)
        if (parameter_is_set(set, maps[i]))
            width = (int64_t)parameter_value(set, maps[i])->rows, is_notebook = false;
    if (is_notebook && heads == 1)
        return HEAD_SIZE;
    return width / heads > 0 ? width / heads : 1;
}

static bool has_maps(const struct parameter_set *set) {
    enum attention_steps_preset preset = attention_steps_preset_of(set);
    return preset == PRESET_DRAWN || preset == PRESET_CAUSAL_HEAD || parameter_is_set(set, "h");
}

/* Whether anything is drawn: not if the tokens and all maps of a single head are given. */
static bool draws(const struct parameter_set *set) {
    bool all_maps =
        parameter_is_set(set, "w_q") && parameter_is_set(set, "w_k") && parameter_is_set(set, "w_v");
    return !parameter_is_set(set, "h") || !all_maps || parameter_integer(set, "heads") > 1 ||
           parameter_integer(set, "context_tokens") > 0;
}

static bool complete(struct parameter_set *set, const struct data_source *data,
                     unsigned long long memory_limit_bytes, struct parameter_faults *faults,
                     struct error *error) {
    (void)memory_limit_bytes;
    (void)data;
    (void)error;
    bool any_given = parameter_is_set(set, "q") || parameter_is_set(set, "k") || parameter_is_set(set, "v") ||
                     parameter_is_set(set, "h");
    default_text(set, "preset", any_given ? "given" : "drawn", faults);
    enum attention_steps_preset preset = attention_steps_preset_of(set);
    bool is_notebook = preset == PRESET_CAUSAL_HEAD;
    if (is_notebook || preset == PRESET_DRAWN)
        complete_drawn(set, is_notebook, faults);
    if (has_maps(set)) {
        default_integer(set, "heads", 1, faults);
        default_integer(set, "context_tokens", 0, faults);
        if (draws(set))
            default_integer(set, "seed", is_notebook ? HEAD_SEED : 0, faults);
        int64_t width = parameter_is_set(set, "h") ? (int64_t)parameter_value(set, "h")->columns
                                                   : parameter_integer(set, "width");
        default_integer(set, "head_size", usual_head_size(set, width, is_notebook), faults);
    }
    bool is_cross = parameter_is_set(set, "context_tokens") && parameter_integer(set, "context_tokens") > 0;
    default_text(set, "mask", is_notebook && !is_cross ? "causal" : "none", faults);
    if (!parameter_is_set(set, "scale"))
        parameter_set_boolean(set, (size_t)parameter_find(set, "scale"), !is_notebook, faults);
    return true;
}

static bool has_fault(const struct parameter_faults *faults, const char *field) {
    for (size_t i = 0; i < faults->count; i++)
        if (strcmp(faults->items[i].field, field) == 0)
            return true;
    return false;
}

static void refuse(const struct parameter_set *set, const char *name, const char *why,
                   struct parameter_faults *faults) {
    if (parameter_is_set(set, name))
        parameter_faults_add(faults, name, "%s; the preset is %s", why, parameter_text(set, "preset"));
}

/* A parameter that the preset does not use is a mistake, not something to ignore. */
static void refuse_unused(const struct parameter_set *set, struct parameter_faults *faults) {
    static const char *const drawn[] = {"batch", "example", "tokens", "width"};
    static const char *const mapped[] = {"seed", "heads", "head_size", "context_tokens", "w_q", "w_k", "w_v"};
    enum attention_steps_preset preset = attention_steps_preset_of(set);
    bool is_drawn = preset == PRESET_DRAWN || preset == PRESET_CAUSAL_HEAD;
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0] && !is_drawn; i++)
        refuse(set, drawn[i], "needs the preset drawn or causal-head", faults);
    for (size_t i = 0; i < sizeof mapped / sizeof mapped[0] && !has_maps(set); i++)
        refuse(set, mapped[i], "needs tokens to map: the preset drawn or causal-head, or h", faults);
    if (has_maps(set) && !draws(set))
        refuse(set, "seed", "has nothing to draw: the tokens and all maps are given", faults);
}

/* Checks h, q, k and v. Returns whether the preset has the matrices that it needs. */
static bool validate_given(const struct parameter_set *set, struct parameter_faults *faults) {
    static const char *const names[] = {"q", "k", "v"};
    bool is_given = attention_steps_preset_of(set) == PRESET_GIVEN, has_input = parameter_is_set(set, "h");
    bool is_whole = true;
    if (!is_given)
        refuse(set, "h", "needs the preset given", faults);
    for (size_t i = 0; i < 3; i++) {
        bool there = parameter_is_set(set, names[i]);
        is_whole = is_whole && there;
        if (is_given && has_input && there)
            parameter_faults_add(faults, names[i], "cannot be given together with h, from which it is made");
        if (is_given && !has_input && !there && !has_fault(faults, names[i]))
            parameter_faults_add(faults, names[i], "is required by the preset given");
        if (!is_given)
            refuse(set, names[i], "needs the preset given", faults);
    }
    if (!is_given || has_input)
        return true;
    if (!is_whole)
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

static void validate_maps(const struct parameter_set *set, const struct attention_steps_sizes *sizes,
                          struct parameter_faults *faults) {
    static const char *const maps[] = {"w_q", "w_k", "w_v"};
    size_t rows = sizes->heads * sizes->head_size;
    for (size_t i = 0; i < 3; i++) {
        const struct parameter_value *map = parameter_value(set, maps[i]);
        if (map->is_set && (map->rows != rows || map->columns != sizes->width))
            parameter_faults_add(
                faults, maps[i],
                "must have %zu x %zu entries, heads * head_size and the width of a token; got %zu "
                "x %zu",
                rows, sizes->width, map->rows, map->columns);
    }
    if (sizes->width % sizes->heads != 0)
        parameter_faults_add(faults, "heads", "must divide the width of a token, %zu; got %zu", sizes->width,
                             sizes->heads);
    if (rows > SIDE_MAXIMUM)
        parameter_faults_add(faults, "head_size", "times heads must be at most %d; got %zu", SIDE_MAXIMUM,
                             rows);
}

static void validate(const struct parameter_set *set, const struct data_source *data,
                     struct parameter_faults *faults) {
    (void)data;
    refuse_unused(set, faults);
    if (!validate_given(set, faults))
        return;
    struct attention_steps_sizes sizes = attention_steps_sizes_of(set);
    if (has_maps(set))
        validate_maps(set, &sizes, faults);
    if (parameter_is_set(set, "example") && !has_fault(faults, "example") &&
        (size_t)parameter_integer(set, "example") >= sizes.batch)
        parameter_faults_add(faults, "example", "must be below the batch, %zu; got %lld", sizes.batch,
                             (long long)parameter_integer(set, "example"));
    if (parameter_boolean(set, "swap") && sizes.queries != sizes.keys)
        parameter_faults_add(faults, "swap",
                             "needs as many queries as keys, for each has a value; got %zu and %zu",
                             sizes.queries, sizes.keys);
    bool has_mask = model_choices_mask(set) != ATTENTION_MASK_NONE || parameter_is_set(set, "mask_matrix");
    if (strcmp(parameter_text(set, "mask_fill"), "zero") == 0 && !has_mask)
        parameter_faults_add(faults, "mask_fill", "needs a mask or a mask_matrix");
    const struct parameter_value *mask = parameter_value(set, "mask_matrix");
    if (mask->is_set && (mask->rows != sizes.queries || mask->columns != sizes.keys))
        parameter_faults_add(faults, "mask_matrix",
                             "must have %zu x %zu entries, one for each query and key; got %zu x %zu",
                             sizes.queries, sizes.keys, mask->rows, mask->columns);
}

/* The result has every matrix. Matrices that the user gave are also in memory as values, twice while the run
 * is created, and as text. */
static struct run_cost estimate(const struct parameter_set *set, const struct data_source *data) {
    enum { GIVEN_BYTES = 3 * sizeof(float) + 3 * 18 };
    (void)data;
    struct attention_steps steps = {.sizes = attention_steps_sizes_of(set)};
    struct arena measure = arena_measuring();
    attention_steps_lay_out(&steps, &measure);
    double given = 0;
    for (size_t i = 0; i < set->count; i++)
        given += set->declarations[i].type == PARAMETER_MATRIX
                     ? (double)set->values[i].rows * (double)set->values[i].columns
                     : 0;
    struct run_cost cost = {.memory_bytes = 0};
    attention_steps_add_work(&steps.sizes, &cost);
    attention_variances_add_cost(&steps.sizes, &cost);
    run_cost_add_memory(&cost, (double)measure.used + given * GIVEN_BYTES);
    run_cost_add_result(&cost, attention_steps_count_numbers(&steps.sizes));
    return cost;
}

static struct head_rules rules_of(const struct parameter_set *set, size_t head_size) {
    const struct parameter_value *mask = parameter_value(set, "mask_matrix");
    return (struct head_rules){
        .divisor = parameter_boolean(set, "scale") ? (float)sqrt((double)head_size) : 1,
        .blend = (float)parameter_real(set, "blend"),
        .is_causal = model_choices_mask(set) == ATTENTION_MASK_CAUSAL,
        .mask = mask->is_set ? mask->matrix : NULL,
        .fills_with_zero = strcmp(parameter_text(set, "mask_fill"), "zero") == 0,
        .over_queries = strcmp(parameter_text(set, "softmax_over"), "queries") == 0,
    };
}

static bool run(struct experiment_context *context, struct error *error) {
    const struct parameter_set *set = context->parameters;
    struct attention_steps steps = {.sizes = attention_steps_sizes_of(set)};
    enum attention_steps_preset preset = attention_steps_preset_of(set);
    struct arena measure = arena_measuring(), arena;
    attention_steps_lay_out(&steps, &measure);
    if (!arena_init(&arena, measure.used, error))
        return false;
    attention_steps_lay_out(&steps, &arena);
    struct torch_generator generator;
    torch_generator_seed(&generator,
                         parameter_is_set(set, "seed") ? (uint64_t)parameter_integer(set, "seed") : 0);
    matrix_use_one_thread();
    attention_steps_fill(&steps, set, &generator);
    struct head_rules rules = rules_of(set, steps.sizes.head_size);
    for (size_t head = 0; head < steps.sizes.heads; head++)
        head_steps_compute(&steps.heads[head], &rules);
    attention_steps_concatenate(&steps);
    result_begin_object(&context->result, NULL);
    attention_steps_report(&context->result, &steps, &rules, set);
    bool done = (preset != PRESET_DRAWN && preset != PRESET_CAUSAL_HEAD) ||
                attention_variances_report(&context->result, &steps.sizes, &generator, error);
    result_end_object(&context->result);
    arena_free(&arena);
    experiment_report_progress(context, 1, 1, "steps");
    return done;
}

const struct experiment experiment_attention_steps = {
    .name = "attention-steps",
    .title = "Attention, step by step",
    .summary =
        "Shows the maps, scores, scaling, mask, softmax and output of attention, one matrix after another.",
    .parameters = declarations,
    .parameter_count = DECLARATION_COUNT,
    .complete = complete,
    .validate = validate,
    .estimate = estimate,
    .run = run,
};
