/* Elementwise kernels, in a plain C version and one for AVX2.
 *
 * Which one a machine runs is chosen once, when a model is opened, and handed down as a pointer; nothing
 * global changes. The plain version uses the C library's functions and is what tests compare the other with
 * (they differ by a few units in the last place). */
#ifndef ATTNLAB_CORE_MATH_KERNELS_H
#define ATTNLAB_CORE_MATH_KERNELS_H

#include <stddef.h>

struct kernels {
    const char *name;

    /* In place over `count` floats. */
    void (*exponential)(float *values, size_t count);
    void (*hyperbolic_tangent)(float *values, size_t count);
    void (*sigmoid)(float *values, size_t count);

    /* scores[rows][columns] becomes softmax(scale * scores) of each row. -INFINITY gets weight 0; a row of
     * nothing else becomes all zero. */
    void (*softmax_rows)(float *scores, size_t rows, size_t columns, float scale);

    /* gradient[rows][columns], with respect to the softmax's weights, becomes the gradient with respect to
     * the scores: scale * w_ij (g_ij - sum_k w_ik g_ik). */
    void (*softmax_rows_backward)(const float *weights, float *gradient, size_t rows, size_t columns,
                                  float scale);
};

/* The fastest table that this processor can run. */
const struct kernels *kernels_choose(void);

extern const struct kernels kernels_plain;
/* x86-64 only, and only where the processor has AVX2 and FMA. */
extern const struct kernels kernels_avx2;

#endif
