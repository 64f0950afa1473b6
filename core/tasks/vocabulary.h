/* The words that a model knows, numbered.
 *
 * Id 0 is padding, id 1 is any unknown word, and the words have ids from 2 on, in order of first appearance.
 * A vocabulary has the words of all rows; or only what a model sees of the training part, the first
 * `sequence_length` tokens of every row, and then all other words are unknown. */
#ifndef ATTNLAB_CORE_TASKS_VOCABULARY_H
#define ATTNLAB_CORE_TASKS_VOCABULARY_H

#include "core/tasks/task.h"

#include <stddef.h>
#include <stdint.h>

struct vocabulary;

/* Builds a vocabulary from the first `tokens` tokens of rows 0 .. rows - 1 of a text data set; SIZE_MAX: all
 * of them. NULL when out of memory. */
struct vocabulary *vocabulary_build(const struct dataset *dataset, size_t rows, size_t tokens,
                                    struct error *error);
void vocabulary_free(struct vocabulary *vocabulary);

/* The number of ids, including padding and unknown: the rows of an embedding. */
size_t vocabulary_size(const struct vocabulary *vocabulary);
/* The id of a null-terminated token; TOKEN_UNKNOWN if the vocabulary does not have it. */
int32_t vocabulary_id(const struct vocabulary *vocabulary, const char *token);
/* The word of an id from TOKEN_FIRST_WORD on; owned by the vocabulary. */
const char *vocabulary_word(const struct vocabulary *vocabulary, int32_t id);

/* Writes the ids of the first `sequence_length` tokens, and padding after them, to ids[sequence_length].
 * Returns the number of tokens written. */
size_t vocabulary_encode(const struct vocabulary *vocabulary, char *const *tokens, size_t token_count,
                         size_t sequence_length, int32_t *ids);

#endif
