/* Sums of gradients and steps of optimisers, over lanes: see parameter_kernels.h. */
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

/* What an optimiser's step works on, for FOR_LANES. */
struct step {
    float *parameters;
    const float *gradients;
    size_t rows, stride;
    float *first_moment, *second_moment;
    const struct step_factors *factors;
};

/* The gradient of the lanes from `i` on, with the weight decay times `p`. */
LANES_INLINE lanes decayed_gradient(size_t i, size_t left, const struct step *step, lanes p) {
    lanes g = sums_of_columns(lanes_zero(), i, left, step->gradients, step->rows, step->stride);
    if (step->factors->weight_decay == 0)
        return g;
    return lanes_fused_multiply_add(p, lanes_broadcast(step->factors->weight_decay), g);
}

/* values.mul_(decay).add_(g, alpha=share) and values.mul_(decay).addcmul_(g, g, value=share) */
LANES_INLINE lanes mean_of(lanes values, float decay, lanes g, float share) {
    return lanes_fused_multiply_add(g, lanes_broadcast(share),
                                    lanes_multiply(values, lanes_broadcast(decay)));
}

LANES_INLINE lanes mean_square_of(lanes values, float decay, lanes g, float share) {
    return lanes_fused_multiply_add(lanes_multiply(lanes_broadcast(share), g), g,
                                    lanes_multiply(values, lanes_broadcast(decay)));
}

/* Adam's parameters after a step from these moments. */
LANES_INLINE lanes adam_change(lanes p, lanes m, lanes v, const struct step_factors *factors) {
    lanes denominator = lanes_divide(lanes_square_root(v), lanes_broadcast(factors->second_correction));
    denominator = lanes_add(denominator, lanes_broadcast(factors->epsilon));
    return lanes_subtract(p,
                          lanes_divide(lanes_multiply(lanes_broadcast(factors->step_size), m), denominator));
}

LANES_INLINE void store_step(size_t i, size_t left, const struct step *step, lanes p, lanes m, lanes v) {
    lanes_store_first(step->first_moment + i, left, m);
    lanes_store_first(step->second_moment + i, left, v);
    lanes_store_first(step->parameters + i, left, p);
}

/* Not fused in the second moment, so that runs have the bits that they had before there were other
 * optimisers: half a unit in the last place from PyTorch's. */
LANES_INLINE void step_adam(size_t i, size_t left, const struct step *step) {
    const struct step_factors *factors = step->factors;
    lanes p = lanes_load_first(step->parameters + i, left), g = decayed_gradient(i, left, step, p);
    lanes m =
        lanes_multiply(lanes_load_first(step->first_moment + i, left), lanes_broadcast(factors->first_decay));
    lanes v = lanes_multiply(lanes_load_first(step->second_moment + i, left),
                             lanes_broadcast(factors->second_decay));
    m = lanes_multiply_add(g, lanes_broadcast(factors->first_share), m);
    v = lanes_add(v, lanes_multiply(lanes_multiply(lanes_broadcast(factors->second_share), g), g));
    store_step(i, left, step, adam_change(p, m, v, factors), m, v);
}

LANES_INLINE void step_adamw(size_t i, size_t left, const struct step *step) {
    const struct step_factors *factors = step->factors;
    lanes p = lanes_load_first(step->parameters + i, left), g = decayed_gradient(i, left, step, p);
    lanes m = mean_of(lanes_load_first(step->first_moment + i, left), factors->first_decay, g,
                      factors->first_share);
    lanes v = mean_square_of(lanes_load_first(step->second_moment + i, left), factors->second_decay, g,
                             factors->second_share);
    p = lanes_multiply(p, lanes_broadcast(factors->shrinkage));
    store_step(i, left, step, adam_change(p, m, v, factors), m, v);
}

/* param.add_(direction, alpha=-lr) */
LANES_INLINE lanes moved(lanes p, lanes direction, const struct step_factors *factors) {
    return lanes_fused_multiply_add(direction, lanes_broadcast(-factors->step_size), p);
}

LANES_INLINE void step_sgd(size_t i, size_t left, const struct step *step) {
    const struct step_factors *factors = step->factors;
    lanes p = lanes_load_first(step->parameters + i, left), g = decayed_gradient(i, left, step, p);
    if (factors->first_decay != 0) {
        lanes buffer = lanes_multiply(lanes_load_first(step->first_moment + i, left),
                                      lanes_broadcast(factors->first_decay));
        g = factors->is_first ? g : lanes_add(buffer, g);
        lanes_store_first(step->first_moment + i, left, g);
    }
    lanes_store_first(step->parameters + i, left, moved(p, g, factors));
}

LANES_INLINE void step_rmsprop(size_t i, size_t left, const struct step *step) {
    const struct step_factors *factors = step->factors;
    lanes p = lanes_load_first(step->parameters + i, left), g = decayed_gradient(i, left, step, p);
    lanes v = mean_square_of(lanes_load_first(step->second_moment + i, left), factors->second_decay, g,
                             factors->second_share);
    lanes_store_first(step->second_moment + i, left, v);
    lanes root = lanes_add(lanes_square_root(v), lanes_broadcast(factors->epsilon));
    if (factors->first_decay != 0) {
        lanes buffer = lanes_multiply(lanes_load_first(step->first_moment + i, left),
                                      lanes_broadcast(factors->first_decay));
        buffer = lanes_add(buffer, lanes_divide(g, root));
        lanes_store_first(step->first_moment + i, left, buffer);
        p = moved(p, buffer, factors);
    } else {
        p = lanes_subtract(p, lanes_divide(lanes_multiply(lanes_broadcast(factors->step_size), g), root));
    }
    lanes_store_first(step->parameters + i, left, p);
}

#define DEFINE_STEP(name, step_lanes)                                                                        \
    void IN_SET(name)(float *parameters, const float *gradients, size_t rows, size_t stride,                 \
                      float *first_moment, float *second_moment, size_t count,                               \
                      const struct step_factors *factors) {                                                  \
        struct step step = {parameters, gradients, rows, stride, first_moment, second_moment, factors};      \
        FOR_LANES(count, step_lanes, &step);                                                                 \
    }

DEFINE_STEP(adam_step, step_adam)
DEFINE_STEP(adamw_step, step_adamw)
DEFINE_STEP(sgd_step, step_sgd)
DEFINE_STEP(rmsprop_step, step_rmsprop)

#endif
