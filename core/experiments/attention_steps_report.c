/* The result of attention-steps: see attention_steps_report.h. */
#include "core/experiments/attention_steps_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_labels(const struct result_sink *sink, const char *key, const char *stem, size_t count) {
    result_begin_array(sink, key);
    for (size_t i = 0; i < count; i++) {
        char label[40];
        snprintf(label, sizeof label, "%s %zu", stem, i);
        result_text(sink, NULL, label);
    }
    result_end_array(sink);
}

static void write_texts(const struct result_sink *sink, const char *key, const char *const *texts) {
    result_begin_array(sink, key);
    for (; *texts != NULL; texts++)
        result_text(sink, NULL, *texts);
    result_end_array(sink);
}

static void write_names(const struct result_sink *sink, const struct attention_steps_sizes *sizes,
                        enum attention_steps_preset preset) {
    static const char *const worked[] = {"key 0: identical", "key 1: orthogonal", "key 2: between", NULL};
    bool has_tokens = sizes->width > 0;
    write_labels(sink, "query_labels", has_tokens ? "token" : "query", sizes->queries);
    if (preset == PRESET_WORKED)
        write_texts(sink, "key_labels", worked);
    else
        write_labels(sink, "key_labels",
                     !has_tokens       ? "key"
                     : sizes->is_cross ? "context"
                                       : "token",
                     sizes->keys);
}

/* The input, the maps and the sizes. */
static void write_inputs(const struct result_sink *sink, const struct attention_steps *steps,
                         size_t example) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    static const char *const weights[] = {"w_q", "w_k", "w_v", "w_o"}, *const biases[] = {"b_q", "b_k", "b_v",
                                                                                          "b_o"};
    size_t inner = sizes->heads * sizes->head_size, width = sizes->width;
    if (width == 0)
        return;
    result_matrix(sink, "input", steps->input + example * sizes->queries * width, sizes->queries, width);
    if (sizes->is_cross)
        result_matrix(sink, "context", steps->context + example * sizes->keys * width, sizes->keys, width);
    for (size_t map = 0; map < MAP_COUNT && steps->maps[map] != NULL; map++) {
        bool is_output = map == MAP_OUTPUT;
        result_matrix(sink, weights[map], steps->maps[map], is_output ? width : inner,
                      is_output ? inner : width);
        if (steps->biases[map] != NULL)
            result_vector(sink, biases[map], steps->biases[map], is_output ? width : inner);
    }
}

static void write_shapes(const struct result_sink *sink, const struct attention_steps_sizes *sizes) {
    result_begin_object(sink, "shapes");
    result_integer(sink, "batch", (int64_t)sizes->batch);
    result_integer(sink, "queries", (int64_t)sizes->queries);
    result_integer(sink, "keys", (int64_t)sizes->keys);
    result_integer(sink, "width", (int64_t)sizes->width);
    result_integer(sink, "head_size", (int64_t)sizes->head_size);
    result_integer(sink, "heads", (int64_t)sizes->heads);
    result_end_object(sink);
}

static void write_scores(const struct result_sink *sink, const struct head_steps *head) {
    result_matrix(sink, "scores", head->scores, head->queries, head->keys);
    result_matrix(sink, "scaled", head->scaled, head->queries, head->keys);
    result_matrix(sink, "masked", head->masked, head->queries, head->keys);
    result_matrix(sink, "weights", head->weights, head->queries, head->keys);
    result_vector(sink, "row_sums", head->row_sums, head->queries);
    result_vector(sink, "column_sums", head->column_sums, head->keys);
}

static void write_heads(const struct result_sink *sink, const struct attention_steps *steps) {
    result_begin_array(sink, "heads");
    for (size_t i = 0; i < steps->sizes.heads; i++) {
        const struct head_steps *head = &steps->heads[i];
        result_begin_object(sink, NULL);
        result_integer(sink, "head", (int64_t)i);
        result_matrix(sink, "q", head->q, head->queries, head->key_width);
        result_matrix(sink, "k", head->k, head->keys, head->key_width);
        result_matrix(sink, "v", head->v, head->keys, head->value_width);
        write_scores(sink, head);
        result_matrix(sink, "output", head->output, head->queries, head->value_width);
        result_end_object(sink);
    }
    result_end_array(sink);
}

/* The lab's parameters and where nn.MultiheadAttention has them: its in_proj is the three maps, one below
 * another. It has no head sizes but the width divided by the heads. */
static void write_parameters(const struct result_sink *sink, const struct attention_steps_sizes *sizes) {
    static const char *const names[] = {"q", "k", "v", "out"};
    static const char *const torch_names[] = {"in_proj", "in_proj", "in_proj", "out_proj"};
    size_t inner = sizes->heads * sizes->head_size;
    result_begin_array(sink, "parameters");
    for (size_t map = 0; map < MAP_COUNT; map++)
        for (size_t is_bias = 0; is_bias < 2; is_bias++) {
            bool is_output = map == MAP_OUTPUT;
            const char *part = is_bias ? "bias" : "weight";
            int64_t shape[] = {(int64_t)(is_output ? sizes->width : inner),
                               (int64_t)(is_output ? inner : sizes->width)};
            char name[40], torch_name[60];
            snprintf(name, sizeof name, "%s.%s", names[map], part);
            snprintf(torch_name, sizeof torch_name, is_output ? "%s.%s" : "%s_%s", torch_names[map], part);
            if (!is_output)
                snprintf(torch_name + strlen(torch_name), sizeof torch_name - strlen(torch_name), "[%zu:%zu]",
                         map * inner, (map + 1) * inner);
            result_begin_object(sink, NULL);
            result_text(sink, "name", name);
            if (inner == sizes->width)
                result_text(sink, "torch_name", torch_name);
            else
                result_null(sink, "torch_name");
            result_integers(sink, "shape", shape, is_bias ? 1 : 2);
            result_end_object(sink);
        }
    result_end_array(sink);
}

/* What the chosen mistake does. */
static void write_note_of(const struct result_sink *sink, const struct head_rules *rules,
                          const struct parameter_set *set, bool overflow) {
    const char *zero = parameter_text(set, "zero");
    bool averages = !rules->fills_with_zero && !rules->over_queries;
    if (rules->blend == 0 && averages && !overflow)
        result_text(
            sink, NULL,
            "All scores are zero: each query averages what it may see. With the causal mask that is the "
            "running average.");
    if (strcmp(zero, "q") == 0 || strcmp(zero, "k") == 0)
        result_text(sink, NULL,
                    "Q or K is all zeros, so all scores are zero: no key is better than another.");
    if (strcmp(zero, "v") == 0)
        result_text(sink, NULL,
                    "V is all zeros: the weights are as before, and what they average is nothing.");
    if (parameter_boolean(set, "swap"))
        result_text(
            sink, NULL,
            "Q and K have changed places: the scores before the mask are the former ones, transposed.");
    if (rules->fills_with_zero)
        result_text(
            sink, NULL,
            "A hidden score is 0, not minus infinity. The softmax gives it exp(0) = 1 before it divides, so "
            "hidden keys get attention all the same.");
    if (rules->over_queries)
        result_text(sink, NULL,
                    "The softmax runs over the queries: columns add up to 1, rows do not, so an output is no "
                    "average. With a causal mask a query's weights depend on later tokens.");
}

/* Lists the queries that see no key, and describes every anomaly in words. */
static void write_notes(const struct result_sink *sink, const struct attention_steps *steps,
                        const struct head_rules *rules, const struct parameter_set *set) {
    size_t queries = steps->sizes.queries, keys = steps->sizes.keys;
    bool overflow = false;
    for (size_t head = 0; head < steps->sizes.heads; head++)
        for (size_t i = 0; i < queries * keys; i++)
            overflow = overflow || !isfinite(steps->heads[head].scores[i]);
    result_begin_array(sink, "hidden_queries");
    for (size_t i = 0; i < queries; i++)
        if (!rules->fills_with_zero && head_rules_hide_all(rules, i, keys))
            result_integer(sink, NULL, (int64_t)i);
    result_end_array(sink);
    result_begin_array(sink, "notes");
    for (size_t i = 0; i < queries; i++)
        if (!rules->fills_with_zero && head_rules_hide_all(rules, i, keys)) {
            char note[100];
            snprintf(note, sizeof note, "Query %zu sees no key: its weights and its output are all zero.", i);
            result_text(sink, NULL, note);
        }
    for (size_t j = 0; j < keys && rules->over_queries; j++)
        if (!rules->fills_with_zero && head_rules_hide_key(rules, j, queries, keys)) {
            char note[100];
            snprintf(note, sizeof note, "No query sees key %zu: its weights are all zero.", j);
            result_text(sink, NULL, note);
        }
    write_note_of(sink, rules, set, overflow);
    if (overflow)
        result_text(
            sink, NULL,
            "Some scores are too large for float32; they and all values computed from them are null.");
    result_end_array(sink);
}

void attention_steps_report(const struct result_sink *sink, const struct attention_steps *steps,
                            const struct head_rules *rules, const struct parameter_set *set) {
    const struct attention_steps_sizes *sizes = &steps->sizes;
    size_t example = parameter_is_set(set, "example") ? (size_t)parameter_integer(set, "example") : 0;
    write_inputs(sink, steps, example);
    result_matrix(sink, "q", steps->q, sizes->queries, sizes->heads * sizes->head_size);
    result_matrix(sink, "k", steps->k, sizes->keys, sizes->heads * sizes->head_size);
    result_matrix(sink, "v", steps->v, sizes->keys, sizes->heads * sizes->value_width);
    write_scores(sink, &steps->heads[0]);
    if (sizes->heads > 1) {
        write_heads(sink, steps);
        result_matrix(sink, "concatenated", steps->concatenated, sizes->queries,
                      sizes->heads * sizes->value_width);
        write_parameters(sink, sizes);
    }
    result_matrix(sink, "output", steps->output, sizes->queries,
                  sizes->heads > 1 ? sizes->width : sizes->value_width);
    result_integer(sink, "d_k", (int64_t)sizes->head_size);
    result_real(sink, "divisor", rules->divisor);
    write_shapes(sink, sizes);
    write_names(sink, sizes, attention_steps_preset_of(set));
    write_notes(sink, steps, rules, set);
}

double attention_steps_count_numbers(const struct attention_steps_sizes *sizes) {
    enum { MATRICES_OF_PAIRS = 4, LABEL = 4, FURTHER_NUMBERS = 120 };
    double queries = (double)sizes->queries, keys = (double)sizes->keys, width = (double)sizes->width;
    double heads = (double)sizes->heads, inner = heads * (double)sizes->head_size;
    double values = heads * (double)sizes->value_width, tokens = queries + keys;
    /* With several heads everything stands there as a whole and by head, the scores of the first head twice.
     */
    double times = heads > 1 ? 2 : 1, scores = heads > 1 ? heads + 1 : 1;
    double maps = heads > 1 ? MAP_COUNT : MAP_OUTPUT;
    double inputs = (queries + (sizes->is_cross ? keys : 0)) * width + maps * (inner + 1) * width;
    return inputs + times * (queries * (inner + values) + keys * (inner + values)) +
           scores * (MATRICES_OF_PAIRS * queries * keys + tokens) + (heads > 1 ? queries * width : 0) +
           LABEL * tokens + FURTHER_NUMBERS;
}

void attention_steps_add_work(const struct attention_steps_sizes *sizes, struct run_cost *cost) {
    enum { OPERATIONS_OF_PAIR = 40 };
    double queries = (double)sizes->queries, keys = (double)sizes->keys, width = (double)sizes->width;
    double heads = (double)sizes->heads, inner = heads * (double)sizes->head_size;
    double tokens = (double)sizes->batch * (queries + (sizes->is_cross ? keys : 0));
    cost->work[WORK_DRAWS] += tokens * width + MAP_COUNT * inner * width;
    cost->work[WORK_ARITHMETIC] +=
        heads * queries * keys *
            (2 * (double)sizes->head_size + 2 * (double)sizes->value_width + OPERATIONS_OF_PAIR) +
        2 * width * inner * (2 * queries + 2 * keys);
}
