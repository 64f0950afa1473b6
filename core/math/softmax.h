/* Softmax as in its formula, with the C library's expf, for experiments that show each step of a small
 * example. Layers use the kernels of core/math/kernels.h. */
#ifndef ATTNLAB_CORE_MATH_SOFTMAX_H
#define ATTNLAB_CORE_MATH_SOFTMAX_H

#include <stddef.h>

/* scores[rows][columns] becomes softmax(scale * scores) of each row. -INFINITY gets weight 0; a row of only
 * -INFINITY becomes all zero. */
void softmax_rows(float *scores, size_t rows, size_t columns, float scale);

#endif
