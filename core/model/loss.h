/* Softmax cross-entropy over logits, torch.nn.CrossEntropyLoss. */
#ifndef ATTNLAB_CORE_MODEL_LOSS_H
#define ATTNLAB_CORE_MODEL_LOSS_H

#include <stddef.h>
#include <stdint.h>

/* The sum over the examples of -log softmax(logits)[label]. grad_logits[count][classes] (NULL: not wanted)
 * becomes (softmax - one at the label) * scale: 1 / batch size for the gradient of the batch's mean. */
double cross_entropy(const float *logits, const int32_t *labels, size_t count, size_t classes, float scale,
                     float *grad_logits);

/* The index of the largest value, the first of equals (torch.argmax). */
size_t largest_index(const float *values, size_t count);

/* probabilities[count] = softmax(logits). */
void softmax_of(const float *logits, size_t count, float *probabilities);

#endif
