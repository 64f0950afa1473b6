/* Kernels that run over all parameters of a model: they sum gradients over rows and take a step of Adam.
 * struct kernels describes them. */
#ifndef ATTNLAB_CORE_MATH_PARAMETER_KERNELS_H
#define ATTNLAB_CORE_MATH_PARAMETER_KERNELS_H

#include "core/math/kernels.h"
#include "core/math/lanes/sets.h"

#define DECLARE_PARAMETER_KERNELS(set)                                                                       \
    void add_column_sums_##set(const float *matrix, size_t rows, size_t columns, float *sums);               \
    void adam_step_##set(float *parameters, const float *gradients, size_t rows, size_t stride,              \
                         float *first_moment, float *second_moment, size_t count,                            \
                         const struct adam_factors *factors);

FOR_SETS_OF_EIGHT(DECLARE_PARAMETER_KERNELS)

#endif
