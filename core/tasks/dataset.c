/* Releases a data set: see dataset.h. */
#include "core/tasks/dataset.h"

#include "core/tasks/word_table.h"

#include <stdlib.h>

double dataset_row_bytes(double tokens, double text_bytes) {
    enum { BLOCK_BYTES = 24, GROWTH = 2 }; /* malloc's own bytes; arrays grow by doubling */
    double pointers = (tokens + 1) * sizeof(char *) + sizeof(size_t) + sizeof(int32_t);
    return text_bytes + BLOCK_BYTES + GROWTH * pointers;
}

void dataset_free(struct dataset *dataset) {
    if (dataset == NULL)
        return;
    for (size_t i = 0; i < dataset->class_count; i++)
        free(dataset->class_names[i]);
    for (size_t i = 0; dataset->texts != NULL && i < dataset->row_count; i++)
        free(dataset->texts[i]);
    word_table_free(dataset->words);
    free(dataset->class_names);
    free(dataset->labels);
    free(dataset->values);
    free(dataset->texts);
    free(dataset->token_start);
    free(dataset->tokens);
    free(dataset);
}
