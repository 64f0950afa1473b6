/* The scores of attention's pairs: see pairs.h. */
#include "core/layers/attention/pairs.h"

#include <math.h>

double attention_score_divisor(const struct layer_options *options, size_t head_width) {
    return options->unscaled_scores ? 1 : sqrt((double)head_width);
}

double attention_pair_operations(const struct layer *layer) {
    enum { SOFTMAX_OPERATIONS = 100 };
    double pairs = (double)layer->input.steps * (double)layer->input.steps;
    return pairs * (4 * (double)layer->input.width + SOFTMAX_OPERATIONS * (double)layer->options.heads);
}
