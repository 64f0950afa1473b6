/* The kernels of recurrent_kernels_avx512.c, for the table in kernels_avx2.c; what they compute is said at
 * struct kernels. They give the bits of those for AVX2. */
#ifndef ATTNLAB_CORE_MATH_RECURRENT_KERNELS_H
#define ATTNLAB_CORE_MATH_RECURRENT_KERNELS_H

#include <stddef.h>

void hyperbolic_tangent_avx512(float *values, size_t count);
void tanh_backward_avx512(const float *y, const float *gradient, float *result, size_t count);
void lstm_step_avx512(float *gates, const float *cell_before, float *cell, float *cell_tanh, float *hidden,
                      size_t rows, size_t width);
void lstm_step_backward_avx512(float *gates, const float *cell_before, const float *cell_tanh,
                               const float *grad_hidden, float *grad_cell, size_t rows, size_t width);

#endif
