/* Kernels that run over all parameters of a model: they sum gradients over rows and take an optimiser's step.
 * struct kernels describes them.
 *
 * The steps round where PyTorch's do (aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp and BinaryOpsKernel.cpp
 * of 1.13, as Debian compiles them for AVX2): add_(x, alpha) is one fused operation, addcmul_(x, y, value) is
 * fused after value * x, and addcdiv_(x, y, value) divides value * x. */
#ifndef ATTNLAB_CORE_MATH_PARAMETER_KERNELS_H
#define ATTNLAB_CORE_MATH_PARAMETER_KERNELS_H

#include "core/math/kernels.h"
#include "core/math/lanes/sets.h"

#define DECLARE_PARAMETER_KERNELS(set)                                                                       \
    void add_column_sums_##set(const float *matrix, size_t rows, size_t columns, float *sums);               \
    optimizer_step adam_step_##set;                                                                          \
    optimizer_step adamw_step_##set;                                                                         \
    optimizer_step sgd_step_##set;                                                                           \
    optimizer_step rmsprop_step_##set;

FOR_SETS_OF_EIGHT(DECLARE_PARAMETER_KERNELS)

#endif
