/* The task `reviews`: sentences about films, meals and hotels, each with one word that decides its class.
 *
 * Sentences of 6 to 16 words are drawn from frames with numpy's stream. Exactly one word of each sentence is
 * from the lists in decisive.h, at any position, and no other word tells the class. Half of the sentences are
 * positive, in shuffled order. */
#ifndef ATTNLAB_CORE_TASKS_REVIEWS_H
#define ATTNLAB_CORE_TASKS_REVIEWS_H

#include "core/stop_request.h"
#include "core/tasks/dataset.h"

enum { REVIEWS_FEWEST_WORDS = 6, REVIEWS_MOST_WORDS = 16 };

/* Draws `train_count` sentences from numpy's default_rng(train_seed), then `test_count` from
 * default_rng(test_seed); together at least two. The classes are "negative" (0) and "positive" (1). Free with
 * dataset_free. `stop` is checked before every sentence and may be NULL. */
struct dataset *reviews_draw(size_t train_count, uint64_t train_seed, size_t test_count, uint64_t test_seed,
                             const struct stop_request *stop, struct error *error);

#endif
