/* Attention scores that a whole batch shares, up to the numbers of each example:
 *
 *   s_ij = square x_i x_j + x_i column_j + row_i x_j + fixed_ij      (i: query, j: key)
 *
 * x belongs to the example, everything else to the batch; core/layers/attention/scalar.h derives the formula.
 * The weights are w_ij = 2^s_ij / sum_k 2^s_ik. Base 2 saves instructions, and the caller can include log2(e)
 * in a factor of the scores. Exponentials are taken of differences to the row's largest score, never to a
 * bound of it: only then is a weight exactly 1 where all others vanish, and its gradient exactly 0. Rows are
 * padded to a multiple of 16 with scores of -INFINITY, so that no loop has a tail. */
#ifndef ATTNLAB_CORE_MATH_SHARED_SCORES_H
#define ATTNLAB_CORE_MATH_SHARED_SCORES_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG2_OF_E 1.44269504088896340736F
#define LN_OF_2   0.69314718055994530942F

enum { SHARED_SCORES_LANES = 16 };

struct shared_scores {
    size_t steps, stride; /* T, and T rounded up to a multiple of SHARED_SCORES_LANES */
    float square;
    const float *row;       /* [T] */
    const float *column;    /* [stride], zero from T on */
    const float *fixed;     /* [T][stride]; -INFINITY: not seen */
    const uint8_t *present; /* [T]: 0 for a query that sees no key; NULL: all see one */
};

/* The gradients with respect to the parts of the scores; backward adds them up over the examples. */
struct shared_scores_gradient {
    float square;
    float *row, *column, *fixed;
};

/* 1 / the sum of query i's exponentials. None is left if it sees no key; if all its scores are -INFINITY
 * nevertheless, because they overflowed, its weights are NaN, as in PyTorch. */
static inline float shared_scores_inverse(const struct shared_scores *scores, size_t i, float sum) {
    bool sees_nothing = scores->present != NULL && scores->present[i] == 0;
    return sees_nothing ? 0 : sum == 0 ? NAN : 1 / sum;
}

#endif
