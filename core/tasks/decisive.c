/* Decisive words: see decisive.h. */
#include "core/tasks/decisive.h"

#include <string.h>

const char *const decisive_positive_words[] = {"excellent", "wonderful",  "brilliant", "superb", "delightful",
                                               "amazing",   "fantastic",  "great",     "lovely", "splendid",
                                               "charming",  "impressive", NULL};
const char *const decisive_negative_words[] = {"terrible", "awful",         "dreadful", "boring", "horrible",
                                               "poor",     "disappointing", "bad",      "dull",   "clumsy",
                                               "tedious",  "miserable",     NULL};

static bool is_in(const char *const *words, const char *token) {
    for (; *words != NULL; words++)
        if (strcmp(*words, token) == 0)
            return true;
    return false;
}

/* Checks that all rows of one polarity have the same label; -1 means that there was no such row yet. */
static bool label_agrees(int32_t *expected, int32_t label) {
    if (*expected == -1)
        *expected = label;
    return *expected == label;
}

bool decisive_find_positions(const struct dataset *dataset, int32_t *positions) {
    int32_t positive_label = -1, negative_label = -1;
    for (size_t row = 0; row < dataset->row_count; row++) {
        positions[row] = -1;
        for (size_t i = dataset->token_start[row]; i < dataset->token_start[row + 1]; i++) {
            bool is_positive = is_in(decisive_positive_words, dataset->tokens[i]);
            if (!is_positive && !is_in(decisive_negative_words, dataset->tokens[i]))
                continue;
            if (positions[row] != -1)
                return false;
            positions[row] = (int32_t)(i - dataset->token_start[row]);
            if (!label_agrees(is_positive ? &positive_label : &negative_label, dataset->labels[row]))
                return false;
        }
        if (positions[row] == -1)
            return false;
    }
    return dataset->row_count > 0 && positive_label != negative_label;
}
