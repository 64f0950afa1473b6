/* Finds the word that decides the class of a sentence, if the data determines it.
 *
 * attnlab has lists of plainly positive and plainly negative words, which its own sentences (reviews.h) use.
 * A user's data set also has decisive words if every row contains exactly one word of the lists, once, and
 * that word determines the class: all rows with a positive word are in one class, all rows with a negative
 * word in another. Only then is it known where a model should look. */
#ifndef ATTNLAB_CORE_TASKS_DECISIVE_H
#define ATTNLAB_CORE_TASKS_DECISIVE_H

#include "core/tasks/dataset.h"

/* NULL-terminated, lower case. */
extern const char *const decisive_positive_words[];
extern const char *const decisive_negative_words[];

/* Fills positions[row_count] with the index of the decisive token in each row and returns true; returns false
 * if the data set has no decisive words. */
bool decisive_find_positions(const struct dataset *dataset, int32_t *positions);

#endif
