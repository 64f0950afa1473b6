/* Attention scores that a whole batch shares, up to a few numbers of each example:
 *
 *   s_ij = fixed_ij + slope_i x_j + gain_i column_j      (i: query, j: key)
 *
 * fixed and column belong to the batch, x, slope and gain to the example; where they come from is told in
 * core/layers/scalar_attention.h. The weights are w_ij = 2^s_ij / sum_k 2^s_ik: base 2 saves instructions,
 * and whoever makes the scores has a factor to put log2(e) into. Rows are padded to a multiple of 8 with
 * scores of -INFINITY, so that no loop has a tail. */
#ifndef ATTNLAB_CORE_MATH_SHARED_SCORES_H
#define ATTNLAB_CORE_MATH_SHARED_SCORES_H

#include <stddef.h>

#define LOG2_OF_E 1.44269504088896340736F
#define LN_OF_2   0.69314718055994530942F

enum { SHARED_SCORES_LANES = 8 };

struct shared_scores {
    size_t steps, stride;       /* T, and T rounded up to a multiple of SHARED_SCORES_LANES */
    const float *fixed;         /* [T][stride]; -INFINITY: not seen */
    const float *fixed_largest; /* [T]: of each row */
    const float *column;        /* [stride], zero from T on */
    float column_least, column_largest;
};

struct shared_scores_example {
    const float *x; /* [stride], zero from T on */
    float x_least, x_largest;
    const float *slope, *gain; /* [T] */
};

/* What backward adds up over the examples, with respect to the scores' parts; row_products[i] = sum_j ds_ij
 * x_j is of this example alone and is what slope_i gets. */
struct shared_scores_gradient {
    float *fixed;        /* [T][stride] */
    float *column;       /* [stride] */
    float *row_products; /* [T] */
};

/* No score of row i is above this; -INFINITY where it sees nothing. The largest score itself would take
 * another pass over the row. */
static inline float shared_scores_bound(const struct shared_scores *scores,
                                        const struct shared_scores_example *example, size_t i) {
    float slope = example->slope[i], gain = example->gain[i];
    return scores->fixed_largest[i] + slope * (slope > 0 ? example->x_largest : example->x_least) +
           gain * (gain > 0 ? scores->column_largest : scores->column_least);
}

/* A row's sum of 2^(s_ij - bound) below this may have lost terms that matter: its largest score, too far
 * below the bound, is then looked for after all. */
static const float shared_scores_least_sum = 1e-20F;

#endif
