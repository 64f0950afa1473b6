/* Attention over single numbers, plainly: see scalar_attention.h. */
#include "core/math/scalar_attention.h"

#include <math.h>
#include <string.h>

static float score_at(const struct scalar_scores *scores, const float *x, size_t i, size_t j) {
    return x[j] * (scores->square * x[i] + scores->query_part[i]) +
           (x[i] * scores->key_part[j] + scores->offset[i * scores->stride + j]);
}

void scalar_attention_forward_plain(const struct scalar_scores *scores, const float *x, float *weights,
                                    float *share) {
    memset(share, 0, scores->stride * sizeof *share);
    for (size_t i = 0; i < scores->steps; i++) {
        float *row = weights + i * scores->stride, largest = -INFINITY, sum = 0;
        for (size_t j = 0; j < scores->stride; j++) {
            row[j] = score_at(scores, x, i, j);
            largest = fmaxf(largest, row[j]);
        }
        if (largest == -INFINITY)
            largest = 0;
        for (size_t j = 0; j < scores->stride; j++)
            sum += row[j] = expf(row[j] - largest);
        float factor = sum > 0 ? 1 / sum : 0;
        for (size_t j = 0; j < scores->stride; j++)
            share[j] += row[j] *= factor;
    }
}

void scalar_attention_backward_plain(const struct scalar_scores *scores, const float *x, const float *weights,
                                     const float *a, struct scalar_score_gradients *gradients,
                                     float *grad_x) {
    for (size_t i = 0; i < scores->steps; i++) {
        const float *row = weights + i * scores->stride;
        float mean = 0, with_x = 0, with_keys = 0, slope = scores->square * x[i] + scores->query_part[i];
        for (size_t j = 0; j < scores->stride; j++)
            mean += row[j] * a[j];
        for (size_t j = 0; j < scores->stride; j++) {
            float gradient = row[j] * (a[j] - mean);
            with_x += gradient * x[j];
            if (gradients->offset != NULL) {
                gradients->offset[i * scores->stride + j] += gradient;
                gradients->key_part[j] += x[i] * gradient;
            }
            if (grad_x != NULL) {
                grad_x[j] += gradient * slope;
                with_keys += gradient * scores->key_part[j];
            }
        }
        gradients->query_part[i] += with_x;
        gradients->square += x[i] * with_x;
        if (grad_x != NULL)
            grad_x[i] += scores->square * with_x + with_keys;
    }
}
