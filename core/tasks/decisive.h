/* Which word decides the class of a sentence, where the data says so.
 *
 * attnlab publishes a list of plainly positive and plainly negative words, which its own sentences
 * (reviews.h) are made with. A data set of the user has decisive words too if every row holds exactly one
 * word of the list, once, and the class follows from it: all rows with a positive word in one class, all with
 * a negative word in another. Then, and only then, is it known where a model should have looked. */
#ifndef ATTNLAB_CORE_TASKS_DECISIVE_H
#define ATTNLAB_CORE_TASKS_DECISIVE_H

#include "core/tasks/dataset.h"

/* NULL-terminated, lower case. */
extern const char *const decisive_positive_words[];
extern const char *const decisive_negative_words[];

/* Fills positions[row_count] with the place of the decisive token in each row and returns true, or returns
 * false where the data set does not say. */
bool decisive_find_positions(const struct dataset *dataset, int32_t *positions);

#endif
