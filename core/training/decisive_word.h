/* How often a text model looks most at the word that decides.
 *
 * Over the first test sentences whose decisive word is known: is the most attended position, by the mean over
 * heads and queries of the first attention layer with padding cut off, that word's? Attention is no
 * explanation, so the share is a measurement, not a test. */
#ifndef ATTNLAB_CORE_TRAINING_DECISIVE_WORD_H
#define ATTNLAB_CORE_TRAINING_DECISIVE_WORD_H

#include "core/model/model.h"
#include "core/tasks/task.h"

enum { DECISIVE_WORD_SENTENCES = 120 };

struct decisive_word_rate {
    size_t hits, of; /* of 0: the task does not say which word decides, or the model has no attention */
};

/* Looks at the first DECISIVE_WORD_SENTENCES test sentences, or at all where there are fewer. */
bool decisive_word_measure(const struct model *model, const float *parameters, const struct task *task,
                           struct decisive_word_rate *rate, struct error *error);

#endif
