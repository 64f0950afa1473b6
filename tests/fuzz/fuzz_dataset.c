/* Uploaded data sets. Whatever the bytes, parsing gives consistent rows that make a task, or an error with a
 * message in UTF-8. The first byte chooses between CSV and TSV. */
#include "core/tasks/dataset_parse.h"
#include "core/tasks/task.h"
#include "core/tasks/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { SEQUENCE_LENGTH = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check_message(const struct error *error) {
    size_t length = strlen(error->message);
    if (error->code == ERROR_NONE || length == 0)
        abort();
    for (size_t at = 0, step; at < length; at += step) {
        uint32_t code_point;
        step = utf8_decode(error->message + at, length - at, &code_point);
        if (step == 0)
            abort();
    }
}

static void check_rows(const struct dataset *dataset) {
    if (dataset->row_count < 2 || dataset->class_count < 2 || dataset->class_count > DATASET_CLASS_LIMIT)
        abort();
    for (size_t row = 0; row < dataset->row_count; row++) {
        if (dataset->labels[row] < 0 || (size_t)dataset->labels[row] >= dataset->class_count)
            abort();
        if (dataset->kind == DATASET_TEXT && dataset->token_start[row] >= dataset->token_start[row + 1])
            abort();
    }
}

/* Checks that every id is below the vocabulary's size, and that every text encodes to its stored ids. */
static void check_task(const struct dataset *dataset) {
    struct error error = {0};
    bool is_text = dataset->kind == DATASET_TEXT;
    struct task_request request = {.name = "fuzz", .sequence_length = is_text ? SEQUENCE_LENGTH : 1};
    struct task *task = dataset_task_open(&request, dataset, &error);
    if (task == NULL)
        abort();
    for (size_t row = 0; is_text && row < task->test.count; row++) {
        int32_t tokens[SEQUENCE_LENGTH];
        const char *words[SEQUENCE_LENGTH];
        size_t count = 0;
        void *memory = NULL;
        if (!task->encode(task, task->test.texts[row], tokens, words, &count, &memory, &error))
            abort();
        if (count == 0 || memcmp(tokens, task->test.tokens + row * SEQUENCE_LENGTH, sizeof tokens) != 0)
            abort();
        for (size_t i = 0; i < SEQUENCE_LENGTH; i++)
            if (tokens[i] < 0 || (size_t)tokens[i] >= task->vocabulary_size)
                abort();
        free(memory);
    }
    task_free(task);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (size == 0)
        return 0;
    const char *text = (const char *)bytes + 1;
    struct error error = {0};
    struct dataset *dataset = bytes[0] % 2 == 0 ? dataset_parse_csv(text, size - 1, &error)
                                                : dataset_parse_tsv(text, size - 1, &error);
    if (dataset == NULL) {
        check_message(&error);
        return 0;
    }
    check_rows(dataset);
    check_task(dataset);
    dataset_free(dataset);
    return 0;
}
