/* Moments under tilted weights, over lanes: see score_kernels.h. */
#include "core/math/lanes/elementary.h"
#include "core/math/score_kernels.h"

/* Sums over the values for LANES tilts at a time, one per lane. */
struct tilted_sums {
    lanes weight, first, second;
};

static inline void add_value(struct tilted_sums *sums, lanes value, lanes centre, lanes tilt) {
    lanes difference = lanes_subtract(value, centre);
    lanes weight = lanes_exp2(lanes_multiply(tilt, difference));
    lanes weighted = lanes_multiply(weight, difference);
    sums->weight = lanes_add(sums->weight, weight);
    sums->first = lanes_add(sums->first, weighted);
    sums->second = lanes_multiply_add(weighted, difference, sums->second);
}

/* Shifts by the value with the largest weight, so that nothing overflows and the variance cancels least. */
void IN_SET(tilted_moments)(const float *values, size_t count, const float *tilts, size_t tilt_count,
                            float *means, float *variances) {
    float least, largest;
    score_kernels_range(values, count, &least, &largest);
    for (size_t i = 0; i < tilt_count; i += LANES) {
        size_t left = tilt_count - i;
        lanes tilt = lanes_load_first(tilts + i, left);
        lanes centre = lanes_select(lanes_is_greater(tilt, lanes_zero()), lanes_broadcast(largest),
                                    lanes_broadcast(least));
        struct tilted_sums sums = {lanes_zero(), lanes_zero(), lanes_zero()};
        for (size_t j = 0; j < count; j++)
            add_value(&sums, lanes_broadcast(values[j]), centre, tilt);
        /* 0, or NaN if the largest score, tilt times centre, overflows: then PyTorch's weights are NaN. */
        lanes score = lanes_multiply(tilt, centre), fault = lanes_subtract(score, score);
        lanes mean = lanes_add(fault, lanes_divide(sums.first, sums.weight));
        lanes variance = lanes_subtract(lanes_divide(sums.second, sums.weight), lanes_multiply(mean, mean));
        lanes_store_first(means + i, left, lanes_add(centre, mean));
        lanes_store_first(variances + i, left, variance);
    }
}
