/* Attention of one head over one example, for sequences short enough that a row of scores stays in registers:
 * scores, softmax and context in one pass, and back.
 *
 * Query, key, value and context are columns of wider matrices: `row` floats lie between two steps. Weights
 * and gradients of scores have rows of `stride` floats, a multiple of 8; behind the last key they are 0. */
#ifndef ATTNLAB_CORE_MATH_ATTENTION_HEAD_H
#define ATTNLAB_CORE_MATH_ATTENTION_HEAD_H

#include <stdbool.h>
#include <stddef.h>

enum { ATTENTION_HEAD_MAXIMUM_STEPS = 32, ATTENTION_HEAD_MAXIMUM_WIDTH = 64 };

struct attention_head {
    size_t steps, width; /* at most the maxima above */
    size_t row, stride;
    float scale;    /* of the scores: 1 / sqrt(width) */
    bool is_causal; /* a query sees no later key */
    const float
        *bias; /* [stride], added to every row of scaled scores: 0, or -INFINITY for a hidden key; or NULL */
    const float *query, *key, *value;
};

/* context[steps] and weights[steps][stride] are written. A query that sees no key gets a row of zeros. */
void attention_head_forward_plain(const struct attention_head *head, float *weights, float *context);
void attention_head_forward_avx2(const struct attention_head *head, float *weights, float *context);

/* From weights and the gradient of the context the gradients of query, key and value, which have the same
 * `row`, are written. grad_scores[steps][stride] is working memory. */
struct attention_head_gradients {
    const float *context;
    float *query, *key, *value;
    float *scores;
};
void attention_head_backward_plain(const struct attention_head *head, const float *weights,
                                   const struct attention_head_gradients *gradients);
void attention_head_backward_avx2(const struct attention_head *head, const float *weights,
                                  const struct attention_head_gradients *gradients);

#endif
