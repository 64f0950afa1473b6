/* One head of attention, one step at a time: see attention_head_steps.h. */
#include "core/experiments/attention_head_steps.h"

#include "core/math/matrix.h"
#include "core/math/softmax.h"

#include <math.h>
#include <string.h>

void head_steps_lay_out(struct head_steps *head, struct arena *arena) {
    size_t pairs = head->queries * head->keys;
    head->q = arena_floats(arena, head->queries * head->key_width);
    head->k = arena_floats(arena, head->keys * head->key_width);
    head->v = arena_floats(arena, head->keys * head->value_width);
    head->scores = arena_floats(arena, pairs);
    head->scaled = arena_floats(arena, pairs);
    head->masked = arena_floats(arena, pairs);
    head->weights = arena_floats(arena, pairs);
    head->row_sums = arena_floats(arena, head->queries);
    head->column_sums = arena_floats(arena, head->keys);
    head->output = arena_floats(arena, head->queries * head->value_width);
    head->column = arena_floats(arena, head->queries);
}

bool head_rules_hide(const struct head_rules *rules, size_t query, size_t key, size_t keys) {
    return (rules->is_causal && key > query) || (rules->mask != NULL && rules->mask[query * keys + key] == 0);
}

bool head_rules_hide_all(const struct head_rules *rules, size_t query, size_t keys) {
    for (size_t j = 0; j < keys; j++)
        if (!head_rules_hide(rules, query, j, keys))
            return false;
    return true;
}

bool head_rules_hide_key(const struct head_rules *rules, size_t key, size_t queries, size_t keys) {
    for (size_t i = 0; i < queries; i++)
        if (!head_rules_hide(rules, i, key, keys))
            return false;
    return true;
}

/* Each column's weights add up to 1, over the queries. */
static void softmax_columns(struct head_steps *head, const struct head_rules *rules) {
    for (size_t j = 0; j < head->keys; j++) {
        bool is_unseen = !rules->fills_with_zero && head_rules_hide_key(rules, j, head->queries, head->keys);
        for (size_t i = 0; i < head->queries; i++)
            head->column[i] = head->weights[i * head->keys + j];
        softmax_rows(head->column, 1, head->queries, 1);
        for (size_t i = 0; i < head->queries; i++)
            head->weights[i * head->keys + j] = is_unseen ? 0 : head->column[i];
    }
}

/* Looks at the mask, not at the scores: a score that overflowed may be minus infinity too. */
static void clear_blind_queries(struct head_steps *head, const struct head_rules *rules) {
    for (size_t i = 0; i < head->queries && !rules->fills_with_zero; i++)
        if (head_rules_hide_all(rules, i, head->keys))
            memset(head->weights + i * head->keys, 0, head->keys * sizeof *head->weights);
}

void head_steps_compute(struct head_steps *head, const struct head_rules *rules) {
    size_t queries = head->queries, keys = head->keys, d_k = head->key_width;
    matrix_multiply_transposed_b(queries, keys, d_k, 1, head->q, d_k, head->k, d_k, 0, head->scores, keys);
    for (size_t i = 0; i < queries * keys; i++) {
        head->scaled[i] = head->scores[i] / rules->divisor * rules->blend;
        bool is_hidden = head_rules_hide(rules, i / keys, i % keys, keys);
        head->masked[i] = !is_hidden ? head->scaled[i] : rules->fills_with_zero ? 0 : -INFINITY;
        head->weights[i] = head->masked[i];
    }
    if (rules->over_queries)
        softmax_columns(head, rules);
    else
        softmax_rows(head->weights, queries, keys, 1);
    clear_blind_queries(head, rules);
    for (size_t i = 0; i < queries; i++)
        for (size_t j = 0; j < keys; j++) {
            head->row_sums[i] += head->weights[i * keys + j];
            head->column_sums[j] += head->weights[i * keys + j];
        }
    matrix_multiply(queries, head->value_width, keys, 1, head->weights, keys, head->v, head->value_width, 0,
                    head->output, head->value_width);
}
