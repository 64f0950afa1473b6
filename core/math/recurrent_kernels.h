/* Kernels of the recurrent layers' time loops, besides the products; struct kernels describes them. They
 * treat every lane separately, so AVX2 and AVX-512 give the same bits. */
#ifndef ATTNLAB_CORE_MATH_RECURRENT_KERNELS_H
#define ATTNLAB_CORE_MATH_RECURRENT_KERNELS_H

#include "core/math/lanes/sets.h"

#include <stddef.h>

#define DECLARE_RECURRENT_KERNELS(set)                                                                       \
    void hyperbolic_tangent_##set(float *values, size_t count);                                              \
    void tanh_backward_##set(const float *y, const float *gradient, float *result, size_t count);            \
    void lstm_step_##set(float *gates, const float *cell_before, float *cell, float *cell_tanh,              \
                         float *hidden, size_t rows, size_t width);                                          \
    void lstm_step_backward_##set(float *gates, const float *cell_before, const float *cell_tanh,            \
                                  const float *grad_hidden, float *grad_cell, size_t rows, size_t width);

FOR_EVERY_SET(DECLARE_RECURRENT_KERNELS)

#endif
