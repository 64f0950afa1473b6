/* Sums of gradients and steps of Adam, over lanes: see parameter_kernels.h. */
#include "core/math/parameter_kernels.h"

#include "core/math/lanes/lanes.h"

#if LANES == 8

/* Of the columns of all lanes from `j` on, added to `even`. */
LANES_INLINE lanes sums_of_columns(lanes even, size_t j, size_t left, const float *matrix, size_t rows,
                                   size_t stride) {
    lanes odd = lanes_zero();
    size_t i = 0;
    for (; i + 2 <= rows; i += 2) {
        even = lanes_add(even, lanes_load_first(matrix + i * stride + j, left));
        odd = lanes_add(odd, lanes_load_first(matrix + (i + 1) * stride + j, left));
    }
    if (i < rows)
        even = lanes_add(even, lanes_load_first(matrix + i * stride + j, left));
    return lanes_add(even, odd);
}

LANES_INLINE void sum_columns(size_t j, size_t left, const float *matrix, size_t rows, size_t columns,
                              float *sums) {
    lanes before = lanes_load_first(sums + j, left);
    lanes_store_first(sums + j, left, sums_of_columns(before, j, left, matrix, rows, columns));
}

void IN_SET(add_column_sums)(const float *matrix, size_t rows, size_t columns, float *sums) {
    FOR_LANES(columns, sum_columns, matrix, rows, columns, sums);
}

void IN_SET(adam_step)(float *parameters, const float *gradients, size_t rows, size_t stride,
                       float *first_moment, float *second_moment, size_t count,
                       const struct adam_factors *factors) {
    const lanes correction = lanes_broadcast(factors->second_correction),
                step = lanes_broadcast(factors->step_size);
    for (size_t i = 0; i < count; i += LANES) {
        size_t left = count - i;
        lanes g = sums_of_columns(lanes_zero(), i, left, gradients, rows, stride);
        lanes m =
            lanes_multiply(lanes_load_first(first_moment + i, left), lanes_broadcast(factors->first_decay));
        lanes v =
            lanes_multiply(lanes_load_first(second_moment + i, left), lanes_broadcast(factors->second_decay));
        m = lanes_multiply_add(g, lanes_broadcast(factors->first_share), m);
        v = lanes_add(v, lanes_multiply(lanes_multiply(lanes_broadcast(factors->second_share), g), g));
        lanes denominator = lanes_divide(lanes_square_root(v), correction);
        denominator = lanes_add(denominator, lanes_broadcast(factors->epsilon));
        lanes change = lanes_divide(lanes_multiply(step, m), denominator);
        lanes p = lanes_subtract(lanes_load_first(parameters + i, left), change);
        lanes_store_first(first_moment + i, left, m);
        lanes_store_first(second_moment + i, left, v);
        lanes_store_first(parameters + i, left, p);
    }
}

#endif
