/* Softmax cross-entropy: see loss.h. It works in double, which costs little for a few numbers per example. */
#include "core/model/loss.h"

#include <math.h>

/* log(sum_j exp(logits_j)), without overflow. */
static double log_sum_exp(const float *logits, size_t count) {
    double largest = (double)logits[largest_index(logits, count)], sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += exp((double)logits[j] - largest);
    // cppcheck-suppress invalidFunctionArg ; the sum is at least 1, the largest logit's own term
    return largest + log(sum);
}

double cross_entropy(const float *logits, const int32_t *labels, size_t count, size_t classes, float scale,
                     float *grad_logits) {
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        const float *row = logits + i * classes;
        double normaliser = log_sum_exp(row, classes);
        size_t label = (size_t)labels[i];
        total += normaliser - (double)row[label];
        for (size_t j = 0; grad_logits != NULL && j < classes; j++) {
            double probability = exp((double)row[j] - normaliser);
            grad_logits[i * classes + j] = (float)((probability - (j == label ? 1 : 0)) * (double)scale);
        }
    }
    return total;
}

size_t largest_index(const float *values, size_t count) {
    size_t best = 0;
    for (size_t j = 1; j < count; j++)
        if (values[j] > values[best])
            best = j;
    return best;
}

void softmax_of(const float *logits, size_t count, float *probabilities) {
    double normaliser = log_sum_exp(logits, count);
    for (size_t j = 0; j < count; j++)
        probabilities[j] = (float)exp((double)logits[j] - normaliser);
}
