/* Attention of one head over one example, for sequences short enough that a row of scores stays in registers:
 * scores, softmax and context in one pass, and back.
 *
 * Query, key, value and context are columns of wider matrices, whose rows are `row` floats apart. Weights and
 * gradients of scores have rows of `stride` floats, a multiple of 8, which are 0 after the last key. */
#ifndef ATTNLAB_CORE_MATH_ATTENTION_HEAD_H
#define ATTNLAB_CORE_MATH_ATTENTION_HEAD_H

#include "core/math/lanes/sets.h"

#include <stdbool.h>
#include <stddef.h>

enum { ATTENTION_HEAD_MAXIMUM_STEPS = 32, ATTENTION_HEAD_MAXIMUM_WIDTH = 64 };

struct attention_head {
    size_t steps, width; /* at most the maxima above */
    size_t row, stride;
    float scale;    /* of the scores: 1 / sqrt(width) */
    bool is_causal; /* a query sees no later key */
    /* [stride], the most that a scaled score may be: INFINITY, or -INFINITY for a hidden key; or NULL. Adding
     * -INFINITY would make NaN of a hidden score that overflowed. */
    const float *limits;
    const float *query, *key, *value;
};

/* For the backward pass; `scores`[steps][stride] is working memory. */
struct attention_head_gradients {
    const float *context;
    float *query, *key, *value; /* their rows are `row` floats apart, too */
    float *scores;
};

/* Forward writes context[steps] and weights[steps][stride]; as in PyTorch, both are NaN for a query that sees
 * no key or has a score that is INFINITY or NaN.
 * Backward writes the gradients of query, key and value from the weights and the gradient of the context. */
#define DECLARE_ATTENTION_HEAD_KERNELS(set)                                                                  \
    void attention_head_forward_##set(const struct attention_head *head, float *weights, float *context);    \
    void attention_head_backward_##set(const struct attention_head *head, const float *weights,              \
                                       const struct attention_head_gradients *gradients);

FOR_SETS_OF_EIGHT(DECLARE_ATTENTION_HEAD_KERNELS)

#endif
