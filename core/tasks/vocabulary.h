/* The words a model knows, as numbers.
 *
 * Id 0 is padding, id 1 any unknown word; the words follow from 2 in order of first appearance. A vocabulary
 * is made from the training part alone, and from what a model sees of it: of every row the first
 * `sequence_length` tokens. A word that appears later only, or only in the test part, is unknown. */
#ifndef ATTNLAB_CORE_TASKS_VOCABULARY_H
#define ATTNLAB_CORE_TASKS_VOCABULARY_H

#include "core/tasks/task.h"

#include <stddef.h>
#include <stdint.h>

struct vocabulary;

/* From rows 0 .. train_count - 1 of a text data set. NULL when out of memory. */
struct vocabulary *vocabulary_build(const struct dataset *dataset, size_t train_count, size_t sequence_length,
                                    struct error *error);
void vocabulary_free(struct vocabulary *vocabulary);

/* Words plus padding and unknown: the rows of an embedding. */
size_t vocabulary_size(const struct vocabulary *vocabulary);
/* The id of a null-terminated token; TOKEN_UNKNOWN where the vocabulary has it not. */
int32_t vocabulary_id(const struct vocabulary *vocabulary, const char *token);
/* The word of an id from TOKEN_FIRST_WORD on; owned by the vocabulary. */
const char *vocabulary_word(const struct vocabulary *vocabulary, int32_t id);

/* Writes the ids of the first `sequence_length` tokens, padding after them, to ids[sequence_length]. Returns
 * how many tokens were kept. */
size_t vocabulary_encode(const struct vocabulary *vocabulary, char *const *tokens, size_t token_count,
                         size_t sequence_length, int32_t *ids);

#endif
