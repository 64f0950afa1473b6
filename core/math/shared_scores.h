/* Attention scores that a whole batch shares, up to the numbers of each example:
 *
 *   s_ij = square x_i x_j + x_i column_j + row_i x_j + fixed_ij      (i: query, j: key)
 *
 * x belongs to the example, everything else to the batch; core/layers/attention/scalar.h derives the formula.
 * The weights are w_ij = 2^s_ij / sum_k 2^s_ik. Base 2 saves instructions, and the caller can include log2(e)
 * in a factor of the scores. Rows are padded to a multiple of 16 with scores of -INFINITY, so that no loop
 * has a tail. */
#ifndef ATTNLAB_CORE_MATH_SHARED_SCORES_H
#define ATTNLAB_CORE_MATH_SHARED_SCORES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define LOG2_OF_E 1.44269504088896340736F
#define LN_OF_2   0.69314718055994530942F

enum { SHARED_SCORES_LANES = 16 };

struct shared_scores {
    size_t steps, stride; /* T, and T rounded up to a multiple of SHARED_SCORES_LANES */
    float square;
    const float *row;           /* [T] */
    const float *column;        /* [stride], zero from T on */
    const float *fixed;         /* [T][stride]; -INFINITY: not seen */
    const float *fixed_largest; /* [T]: of each row */
    float column_least, column_largest;
};

/* The gradients with respect to the parts of the scores; backward adds them up over the examples. */
struct shared_scores_gradient {
    float square;
    float *row, *column, *fixed;
};

/* The terms of a row: s_ij = fixed_ij + slope x_j + gain column_j. */
struct shared_scores_row {
    float slope, gain;
    float bound;   /* no score of the row is above it; -INFINITY if the query sees no key */
    bool is_large; /* the terms are so large that their rounding would distort differences to the bound */
};

/* Up to this size, rounding a term changes a difference by at most 1/256. */
static const float shared_scores_exact_limit = 65536;

/* Uses a bound, because the largest score itself would need another pass over the row. */
static inline struct shared_scores_row shared_scores_row_of(const struct shared_scores *scores,
                                                            const float *x, float x_least, float x_largest,
                                                            size_t i) {
    float gain = x[i], slope = scores->square * gain + scores->row[i];
    float fixed = scores->fixed_largest[i], of_slope = slope * (slope > 0 ? x_largest : x_least),
          of_gain = gain * (gain > 0 ? scores->column_largest : scores->column_least);
    float reach = fabsf(fixed) + fabsf(of_slope) + fabsf(of_gain);
    return (struct shared_scores_row){slope, gain, fixed + of_slope + of_gain,
                                      fixed != -INFINITY && reach > shared_scores_exact_limit};
}

/* If a row's sum of 2^(s_ij - bound) is below this, its largest score is far below the bound and terms that
 * matter may be lost. The largest score is then searched for after all. */
static const float shared_scores_least_sum = 1e-20F;

#endif
