/* The words a model knows: see vocabulary.h. */
#include "core/tasks/vocabulary.h"

#include "core/tasks/word_table.h"

#include <stdlib.h>
#include <string.h>

struct vocabulary {
    struct word_table *words;
};

struct vocabulary *vocabulary_build(const struct dataset *dataset, size_t rows, size_t tokens,
                                    struct error *error) {
    struct vocabulary *vocabulary = calloc(1, sizeof *vocabulary);
    if (vocabulary == NULL || (vocabulary->words = word_table_new()) == NULL)
        goto out_of_memory;
    for (size_t row = 0; row < rows && row < dataset->row_count; row++) {
        size_t start = dataset->token_start[row], end = dataset->token_start[row + 1];
        for (size_t i = start; i < end && i - start < tokens; i++)
            if (word_table_add(vocabulary->words, dataset->tokens[i], strlen(dataset->tokens[i])) ==
                WORD_TABLE_NONE)
                goto out_of_memory;
    }
    return vocabulary;
out_of_memory:
    error_set_memory(error, sizeof *vocabulary);
    vocabulary_free(vocabulary);
    return NULL;
}

void vocabulary_free(struct vocabulary *vocabulary) {
    if (vocabulary == NULL)
        return;
    word_table_free(vocabulary->words);
    free(vocabulary);
}

size_t vocabulary_size(const struct vocabulary *vocabulary) {
    return word_table_count(vocabulary->words) + TOKEN_FIRST_WORD;
}

int32_t vocabulary_id(const struct vocabulary *vocabulary, const char *token) {
    size_t index = word_table_find(vocabulary->words, token, strlen(token));
    return index == WORD_TABLE_NONE ? TOKEN_UNKNOWN : (int32_t)index + TOKEN_FIRST_WORD;
}

const char *vocabulary_word(const struct vocabulary *vocabulary, int32_t id) {
    return word_table_word(vocabulary->words, (size_t)(id - TOKEN_FIRST_WORD));
}

size_t vocabulary_encode(const struct vocabulary *vocabulary, char *const *tokens, size_t token_count,
                         size_t sequence_length, int32_t *ids) {
    size_t kept = token_count < sequence_length ? token_count : sequence_length;
    for (size_t i = 0; i < kept; i++)
        ids[i] = vocabulary_id(vocabulary, tokens[i]);
    for (size_t i = kept; i < sequence_length; i++)
        ids[i] = TOKEN_PADDING;
    return kept;
}
