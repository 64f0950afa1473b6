/* Softmax cross-entropy over logits, like torch.nn.CrossEntropyLoss. */
#ifndef ATTNLAB_CORE_MODEL_LOSS_H
#define ATTNLAB_CORE_MODEL_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the sum over the examples of -log softmax(logits)[label]. Sets grad_logits[count][classes], unless
 * it is NULL, to (softmax - one at the label) * scale. The gradient of the batch's mean has scale 1 / batch
 * size. */
double cross_entropy(const float *logits, const int32_t *labels, size_t count, size_t classes, float scale,
                     float *grad_logits);

/* Returns the index of the largest value, the first if several are equal (torch.argmax). */
size_t largest_index(const float *values, size_t count);

/* probabilities[count] = softmax(logits). */
void softmax_of(const float *logits, size_t count, float *probabilities);

#endif
