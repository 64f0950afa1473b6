/* The kernels of attention over a sequence of single numbers: one example, forward and back.
 *
 * core/layers/scalar_attention.h derives them. A score is s_ij = x_i x_j a + x_i b_j + x_j g_i + d_ij, where
 * a, b, g and d are the same for all examples. Rows are `stride` floats apart, a multiple of 8; what is
 * behind the last step is -INFINITY in d and 0 elsewhere, so that no kernel needs a tail. */
#ifndef ATTNLAB_CORE_MATH_SCALAR_ATTENTION_H
#define ATTNLAB_CORE_MATH_SCALAR_ATTENTION_H

#include <stddef.h>

struct scalar_scores {
    size_t steps, stride;
    float square;            /* a */
    const float *query_part; /* g[steps] */
    const float *key_part;   /* b[stride] */
    const float *offset;     /* d[steps][stride] */
};

/* What the backward kernel adds up over the examples. */
struct scalar_score_gradients {
    float square;
    float *query_part; /* [steps] */
    float *key_part;   /* [stride]; NULL together with offset: not wanted */
    float *offset;     /* [steps][stride] */
};

/* weights[steps][stride] = softmax of each row of scores; share[stride] = the sum of its rows. x[stride]. */
void scalar_attention_forward_plain(const struct scalar_scores *scores, const float *x, float *weights,
                                    float *share);
void scalar_attention_forward_avx2(const struct scalar_scores *scores, const float *x, float *weights,
                                   float *share);

/* Through the softmax and into the scores' parts, where a[stride] is the gradient with respect to every row
 * of weights. grad_x[stride] (NULL: not wanted) is added to. */
void scalar_attention_backward_plain(const struct scalar_scores *scores, const float *x, const float *weights,
                                     const float *a, struct scalar_score_gradients *gradients, float *grad_x);
void scalar_attention_backward_avx2(const struct scalar_scores *scores, const float *x, const float *weights,
                                    const float *a, struct scalar_score_gradients *gradients, float *grad_x);

#endif
