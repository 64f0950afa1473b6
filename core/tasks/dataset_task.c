/* A task on the rows of a data set: by default the first 80 % are for training, the rest for testing.
 *
 * The task copies everything it hands out into one block of its own, so the data set may be freed. It keeps
 * the first T tokens or values of every row. */
#include "core/tasks/decisive.h"
#include "core/tasks/task.h"
#include "core/tasks/tokenize.h"
#include "core/tasks/vocabulary.h"
#include "core/tasks/word_table.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_TEXT_LENGTH = 20 };

/* The task and its arrays; the rows are those of the training part, then those of the test part. */
struct dataset_task {
    struct task task;
    size_t row_count;
    int32_t *labels;
    float *values; /* numbers: [row_count][T] */
    struct standardisation standardisation;
    struct vocabulary *vocabulary;
    struct word_table *kept_words; /* owns the strings that `words` points to */
    int32_t *tokens;               /* text: [row_count][T] */
    const char **words;            /* text: [row_count][T] */
    int32_t *decisive;             /* text: [row_count], or NULL */
    char **texts;                  /* text: [row_count] */
    char **class_names;
    const char **vocabulary_words;
};

/* Fills in the counts that the request leaves open: 80 % of the rows, and the remaining ones. */
static void complete_split(size_t rows, size_t *train, size_t *test) {
    if (*train == 0) {
        *train = rows - rows / 5 - (rows % 5 != 0);
        bool leaves_too_few = *test<rows && * train> rows - *test;
        if (leaves_too_few)
            *train = rows - *test;
    }
    if (*test == 0)
        *test = *train < rows ? rows - *train : 1;
}

/* A block of malloc: its header and the padding to the next. */
enum { BLOCK_BYTES = 24 };

double dataset_task_row_bytes(size_t sequence_length, double text_bytes) {
    double of_steps = (double)sequence_length * (sizeof(int32_t) + sizeof(char *));
    return of_steps + text_bytes + BLOCK_BYTES + sizeof(char *) + 2 * sizeof(int32_t);
}

/* The data set stays in memory while its task is made. */
static void count_memory(const struct dataset *dataset, struct task_summary *summary) {
    double rows = (double)summary->train_examples + (double)summary->test_examples;
    double all = (double)dataset->row_count;
    if (summary->kind == DATASET_NUMBERS) {
        double standardised = summary->may_standardise ? 2 * sizeof(double) : 0; /* mean and deviation */
        summary->memory_bytes = (double)summary->sequence_length * standardised +
                                rows * ((double)summary->sequence_length * sizeof(float) + sizeof(int32_t)) +
                                all * ((double)dataset->sequence_length * sizeof(float) + sizeof(int32_t));
        summary->draws = all * (double)dataset->sequence_length;
        return;
    }
    double bytes = (double)dataset->text_bytes / all,
           tokens = (double)dataset->token_start[dataset->row_count] / all;
    summary->memory_bytes = all * dataset_row_bytes(tokens, bytes) +
                            rows * dataset_task_row_bytes(summary->sequence_length, bytes) +
                            2 * (double)dataset->word_count * (2 * BLOCK_BYTES + 8 * sizeof(char *));
    summary->draws = (double)dataset->text_bytes;
}

bool dataset_task_describe(const struct task_request *request, const struct dataset *dataset,
                           struct task_summary *summary, struct error *error) {
    (void)error;
    bool is_text = dataset->kind == DATASET_TEXT;
    *summary = (struct task_summary){
        .kind = dataset->kind,
        .sequence_length = request->sequence_length,
        .train_examples = request->train_examples,
        .test_examples = request->test_examples,
        .sequence_length_maximum = is_text ? SIZE_MAX : dataset->sequence_length,
        .example_maximum = dataset->row_count,
        .class_count = dataset->class_count,
        .vocabulary_maximum = is_text ? dataset->word_count + TOKEN_FIRST_WORD : 0,
        .may_standardise = !is_text,
    };
    if (summary->sequence_length == 0)
        summary->sequence_length = is_text ? DEFAULT_TEXT_LENGTH : dataset->sequence_length;
    complete_split(dataset->row_count, &summary->train_examples, &summary->test_examples);
    count_memory(dataset, summary);
    return true;
}

static bool check_request(const struct dataset *dataset, const struct task_summary *summary,
                          struct error *error) {
    if (summary->train_examples > dataset->row_count ||
        summary->test_examples > dataset->row_count - summary->train_examples)
        return error_set(
            error, ERROR_INVALID,
            "the run needs %zu examples to train on and %zu to test on, but the data set has %zu rows",
            summary->train_examples, summary->test_examples, dataset->row_count);
    if (summary->sequence_length > summary->sequence_length_maximum)
        return error_set(error, ERROR_INVALID,
                         "the run needs sequences of %zu numbers, but those of the data set have %zu",
                         summary->sequence_length, summary->sequence_length_maximum);
    return true;
}

static void destroy(struct task *task) {
    struct dataset_task *own = task->owner;
    for (size_t i = 0; own->texts != NULL && i < own->row_count; i++)
        free(own->texts[i]);
    for (size_t i = 0; own->class_names != NULL && i < task->class_count; i++)
        free(own->class_names[i]);
    vocabulary_free(own->vocabulary);
    word_table_free(own->kept_words);
    free(own->labels);
    free(own->values);
    free(own->standardisation.mean);
    free(own->tokens);
    free(own->words);
    free(own->decisive);
    free(own->texts);
    free(own->class_names);
    free(own->vocabulary_words);
    free(own);
}

static bool copy_classes(struct dataset_task *own, const struct dataset *dataset) {
    own->class_names = calloc(dataset->class_count, sizeof *own->class_names);
    own->labels = calloc(own->row_count, sizeof *own->labels);
    if (own->class_names == NULL || own->labels == NULL)
        return false;
    memcpy(own->labels, dataset->labels, own->row_count * sizeof *own->labels);
    for (size_t i = 0; i < dataset->class_count; i++)
        if ((own->class_names[i] = strdup(dataset->class_names[i])) == NULL)
            return false;
    own->task.class_names = (const char *const *)own->class_names;
    return true;
}

static bool copy_numbers(struct dataset_task *own, const struct dataset *dataset) {
    size_t steps = own->task.sequence_length;
    own->values = malloc(own->row_count * steps * sizeof *own->values);
    if (own->values == NULL)
        return false;
    for (size_t row = 0; row < own->row_count; row++)
        memcpy(own->values + row * steps, dataset->values + row * dataset->sequence_length,
               steps * sizeof *own->values);
    return true;
}

static bool standardise(struct dataset_task *own, size_t train_count) {
    size_t steps = own->task.sequence_length;
    own->standardisation =
        (struct standardisation){.steps = steps, .mean = calloc(2 * steps, sizeof(double))};
    if (own->standardisation.mean == NULL)
        return false;
    own->standardisation.deviation = own->standardisation.mean + steps;
    standardise_measure(&own->standardisation, own->values, train_count);
    standardise_apply(&own->standardisation, own->values, own->row_count, steps);
    own->task.standardisation = &own->standardisation;
    return true;
}

/* Fills in the task's list of words by id. */
static bool list_vocabulary(struct dataset_task *own) {
    size_t size = vocabulary_size(own->vocabulary);
    own->vocabulary_words = calloc(size, sizeof *own->vocabulary_words);
    if (own->vocabulary_words == NULL)
        return false;
    for (size_t id = 0; id < size; id++)
        own->vocabulary_words[id] =
            id < TOKEN_FIRST_WORD ? "" : vocabulary_word(own->vocabulary, (int32_t)id);
    own->task.vocabulary_size = size;
    own->task.vocabulary = own->vocabulary_words;
    return true;
}

/* Fills in one row's ids, words and text. */
static bool copy_text_row(struct dataset_task *own, const struct dataset *dataset, size_t row) {
    size_t steps = own->task.sequence_length, start = dataset->token_start[row];
    char *const *tokens = dataset->tokens + start;
    size_t kept = vocabulary_encode(own->vocabulary, tokens, dataset->token_start[row + 1] - start, steps,
                                    own->tokens + row * steps);
    for (size_t i = 0; i < kept; i++) {
        size_t word = word_table_add(own->kept_words, tokens[i], strlen(tokens[i]));
        if (word == WORD_TABLE_NONE)
            return false;
        own->words[row * steps + i] = word_table_word(own->kept_words, word);
    }
    own->texts[row] = strdup(dataset->texts[row]);
    return own->texts[row] != NULL;
}

/* Fills in the positions of the decisive words; -1 if the word was cut off. */
static bool copy_decisive(struct dataset_task *own, const struct dataset *dataset) {
    own->decisive = malloc(dataset->row_count * sizeof *own->decisive);
    if (own->decisive == NULL)
        return false;
    if (!decisive_find_positions(dataset, own->decisive)) {
        free(own->decisive);
        own->decisive = NULL;
        return true;
    }
    for (size_t row = 0; row < own->row_count; row++)
        if ((size_t)own->decisive[row] >= own->task.sequence_length)
            own->decisive[row] = -1;
    return true;
}

static bool copy_text(struct dataset_task *own, const struct dataset *dataset, size_t train_count,
                      const struct task_request *request, struct error *error) {
    size_t steps = own->task.sequence_length;
    bool has_all_words = request->vocabulary == TASK_VOCABULARY_ALL;
    own->vocabulary = vocabulary_build(dataset, has_all_words ? dataset->row_count : train_count,
                                       has_all_words ? SIZE_MAX : steps, error);
    own->kept_words = word_table_new();
    own->tokens = calloc(own->row_count * steps, sizeof *own->tokens);
    own->words = calloc(own->row_count * steps, sizeof *own->words);
    own->texts = calloc(own->row_count, sizeof *own->texts);
    if (own->vocabulary == NULL || own->kept_words == NULL || own->tokens == NULL || own->words == NULL ||
        own->texts == NULL || !list_vocabulary(own))
        return false;
    for (size_t row = 0; row < own->row_count; row++) {
        if (!stop_check(request->stop, error))
            return false;
        if (!copy_text_row(own, dataset, row))
            return false;
    }
    return copy_decisive(own, dataset);
}

/* The state while a new text is encoded: its first T tokens. */
struct encoding {
    const struct task *task;
    const struct vocabulary *vocabulary;
    int32_t *tokens;
    const char **words;
    size_t count;
    char *characters; /* the words, one after the other */
};

static bool encode_token(void *owner, const char *token, size_t length) {
    struct encoding *encoding = owner;
    if (encoding->count == encoding->task->sequence_length)
        return false;
    memcpy(encoding->characters, token, length);
    encoding->characters[length] = '\0';
    encoding->words[encoding->count] = encoding->characters;
    encoding->tokens[encoding->count++] = vocabulary_id(encoding->vocabulary, encoding->characters);
    encoding->characters += length + 1;
    return true;
}

static bool encode(const struct task *task, const char *text, int32_t *tokens, const char **words,
                   size_t *count, void **memory, struct error *error) {
    const struct dataset_task *own = task->owner;
    size_t size = strlen(text);
    /* Every token has at least one byte of the text; each needs one more for its terminator. */
    char *characters = malloc(2 * size + 1);
    if (characters == NULL)
        return error_set_memory(error, 2 * size + 1);
    for (size_t i = 0; i < task->sequence_length; i++) {
        tokens[i] = TOKEN_PADDING;
        words[i] = NULL;
    }
    struct encoding encoding = {task, own->vocabulary, tokens, words, 0, characters};
    if (!tokenize_text(text, size, encode_token, &encoding) && encoding.count < task->sequence_length) {
        free(characters);
        return error_set_memory(error, size);
    }
    *count = encoding.count;
    *memory = characters;
    return true;
}

static struct example_set examples_from(const struct dataset_task *own, size_t first, size_t count) {
    size_t steps = own->task.sequence_length;
    bool is_text = own->task.kind == DATASET_TEXT;
    return (struct example_set){
        .count = count,
        .values = is_text ? NULL : own->values + first * steps,
        .tokens = is_text ? own->tokens + first * steps : NULL,
        .labels = own->labels + first,
        .texts = is_text ? (const char *const *)own->texts + first : NULL,
        .words = is_text ? own->words + first * steps : NULL,
        .decisive = own->decisive == NULL ? NULL : own->decisive + first,
    };
}

struct task *dataset_task_open(const struct task_request *request, const struct dataset *dataset,
                               struct error *error) {
    struct task_summary summary;
    if (!dataset_task_describe(request, dataset, &summary, error) || !check_request(dataset, &summary, error))
        return NULL;
    struct dataset_task *own = calloc(1, sizeof *own);
    if (own == NULL) {
        error_set_memory(error, sizeof *own);
        return NULL;
    }
    own->row_count = summary.train_examples + summary.test_examples;
    own->task = (struct task){.kind = dataset->kind,
                              .sequence_length = summary.sequence_length,
                              .class_count = dataset->class_count,
                              .destroy = destroy,
                              .owner = own};
    bool is_text = dataset->kind == DATASET_TEXT;
    if (!copy_classes(own, dataset) ||
        !(is_text ? copy_text(own, dataset, summary.train_examples, request, error)
                  : copy_numbers(own, dataset)) ||
        (request->standardise && !is_text && !standardise(own, summary.train_examples))) {
        error_set_memory(error, own->row_count * summary.sequence_length * sizeof(float));
        destroy(&own->task);
        return NULL;
    }
    own->task.encode = is_text ? encode : NULL;
    own->task.train = examples_from(own, 0, summary.train_examples);
    own->task.test = examples_from(own, summary.train_examples, summary.test_examples);
    return &own->task;
}
