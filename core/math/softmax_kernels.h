/* Softmax of whole rows and its backward pass; struct kernels describes the kernels. */
#ifndef ATTNLAB_CORE_MATH_SOFTMAX_KERNELS_H
#define ATTNLAB_CORE_MATH_SOFTMAX_KERNELS_H

#include "core/math/lanes/sets.h"

#include <stddef.h>

#define DECLARE_SOFTMAX_KERNELS(set)                                                                         \
    void softmax_rows_##set(float *scores, size_t rows, size_t columns, float scale);                        \
    void softmax_rows_backward_##set(const float *weights, float *gradient, size_t rows, size_t columns,     \
                                     float scale);                                                           \
    void softmax_rows_backward_shared_##set(float *weights, const float *gradient, size_t rows,              \
                                            size_t columns, float scale);

FOR_SETS_OF_EIGHT(DECLARE_SOFTMAX_KERNELS)

#endif
