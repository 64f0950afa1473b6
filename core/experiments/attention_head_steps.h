/* One head of attention, one step at a time: scores, scaling, mask, softmax, output (Vaswani et al. 2017,
 * section 3.2.1), with every intermediate matrix kept, and with the mistakes that students make on purpose.
 */
#ifndef ATTNLAB_CORE_EXPERIMENTS_ATTENTION_HEAD_STEPS_H
#define ATTNLAB_CORE_EXPERIMENTS_ATTENTION_HEAD_STEPS_H

#include "core/math/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* How the scores become weights. */
struct head_rules {
    float divisor, blend; /* scaled = scores / divisor * blend */
    bool is_causal;       /* query i sees no key after key i */
    const float *mask;    /* [queries][keys]: 0 hides the key from the query; NULL: hides nothing */
    bool fills_with_zero; /* a hidden score becomes 0, not -infinity, so that it is not hidden at all */
    bool over_queries;    /* the softmax runs down the columns, not along the rows */
};

/* All matrices are row-major. */
struct head_steps {
    size_t queries, keys, key_width, value_width;
    float *q, *k, *v; /* [queries][key_width], [keys][key_width], [keys][value_width] */
    float *scores, *scaled, *masked, *weights; /* [queries][keys] */
    float *row_sums, *column_sums;             /* [queries], [keys]: of the weights */
    float *output;                             /* [queries][value_width] */
    float *column;                             /* [queries]: working memory */
};

/* Takes the matrices of a head whose sizes are set from `arena`, which may be a measuring arena. */
void head_steps_lay_out(struct head_steps *head, struct arena *arena);

/* Whether the mask hides the key from the query; and whether it hides all `keys` from it. */
bool head_rules_hide(const struct head_rules *rules, size_t query, size_t key, size_t keys);
bool head_rules_hide_all(const struct head_rules *rules, size_t query, size_t keys);
/* Whether the mask hides the key from all `queries`. */
bool head_rules_hide_key(const struct head_rules *rules, size_t key, size_t queries, size_t keys);

/* Computes everything else from q, k and v. A query that sees no key gets zero weights and a zero output;
 * over the queries, so does a key that no query sees. */
void head_steps_compute(struct head_steps *head, const struct head_rules *rules);

#endif
