/* Adam: see adam.h. */
#include "core/model/adam.h"

#include <math.h>

struct adam_factors adam_factors_at(size_t step, double learning_rate) {
    const double first = 0.9, second = 0.999, epsilon = 1e-8;
    return (struct adam_factors){
        .first_decay = (float)first,
        .second_decay = (float)second,
        .first_share = (float)(1 - first),
        .second_share = (float)(1 - second),
        .step_size = (float)(learning_rate / (1 - pow(first, (double)step))),
        .second_correction = (float)sqrt(1 - pow(second, (double)step)),
        .epsilon = (float)epsilon,
    };
}
