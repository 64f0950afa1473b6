/* A task: labelled examples, split for training and testing, as the model sees them.
 *
 * Tasks that attnlab draws itself (task_makers) and the user's data sets all take this form:
 * numbers [count][T] or token ids [count][T]. Training runs, inspections and the examples over HTTP all read
 * from here, so that they see the same numbers. Immutable once made.
 *
 * May call random. Called by training and experiments, and by the server, which parses users' files with it.
 */
#ifndef ATTNLAB_CORE_TASKS_TASK_H
#define ATTNLAB_CORE_TASKS_TASK_H

#include "core/error.h"
#include "core/stop_request.h"
#include "core/tasks/data_source.h"
#include "core/tasks/dataset.h"
#include "core/tasks/standardise.h"

#include <stdint.h>

/* The rows whose words get ids. The lab counts over all rows. Over the training rows alone is better
 * practice: test rows then hold unknown words, as texts do that are written later. */
enum task_vocabulary { TASK_VOCABULARY_TRAINING, TASK_VOCABULARY_ALL };

enum { TOKEN_PADDING = 0, TOKEN_UNKNOWN = 1, TOKEN_FIRST_WORD = 2 };

/* One part of the split. Rows have no gaps; the task owns the pointers. */
struct example_set {
    size_t count;
    const float *values;      /* numbers: [count][T]; else NULL */
    const int32_t *tokens;    /* text: [count][T] ids, padded at the end with TOKEN_PADDING; else NULL */
    const int32_t *labels;    /* [count], each below class_count */
    const char *const *texts; /* text: [count] as written; else NULL */
    const char *const *words; /* text: [count][T] the tokens as words (even unknown ones), NULL at padding */
    const int32_t *decisive;  /* text: [count] position of the decisive word, or -1; NULL if not known */
};

struct task {
    enum dataset_kind kind;
    size_t sequence_length; /* T */
    size_t class_count;
    const char *const *class_names; /* [class_count] */
    size_t vocabulary_size;         /* text: ids are below this; 0 for numbers */
    const char *const *vocabulary;  /* text: [vocabulary_size] word of each id; "" for padding and unknown */
    /* Numbers: has been applied to the examples, and must be to every other sequence; NULL: none. */
    const struct standardisation *standardisation;
    struct example_set train, test;
    /* Text: encodes a new text. Fills tokens[T] and words[T] as in example_set (the words are in *memory,
     * which the caller releases with free()) and sets *count to the number of tokens, at most T. NULL for
     * numbers. */
    bool (*encode)(const struct task *task, const char *text, int32_t *tokens, const char **words,
                   size_t *count, void **memory, struct error *error);
    void (*destroy)(struct task *task);
    void *owner; /* for the functions of the task's maker */
};

/* The task that a run needs. Zero counts and lengths mean the task's default. */
struct task_request {
    const char *name; /* that of a user's data set, or else of a task_maker */
    size_t sequence_length;
    size_t train_examples, test_examples;
    uint64_t train_seed, test_seed;  /* for drawn data: seeds of numpy's stream */
    enum task_vocabulary vocabulary; /* text */
    bool standardise;                /* the user's numbers */
    const struct stop_request *stop; /* checked at every example; NULL: never */
};

/* A task's sizes, known before it is made; the request's zeros are replaced by the task's defaults. */
struct task_summary {
    enum dataset_kind kind;
    size_t sequence_length, train_examples, test_examples;
    size_t sequence_length_maximum; /* the longest sequence that the task has; SIZE_MAX: no limit */
    size_t example_maximum; /* the most examples, train and test together; SIZE_MAX if they are drawn */
    size_t class_count;
    size_t vocabulary_maximum; /* an upper bound of vocabulary_size; 0 for numbers */
    bool may_standardise;      /* whether a request may ask for it */
    /* Of this split: the bytes that the open task takes, with those that opening it takes; and the work of
     * opening it, in random numbers drawn or the like. Doubles, because nobody has checked the sizes yet. */
    double memory_bytes, draws;
};

/* ERROR_MISSING if there is no such task. */
bool task_describe(const struct task_request *request, const struct data_source *data,
                   struct task_summary *summary, struct error *error);

/* Draws or encodes the examples. ERROR_CANCELLED if a stop was requested. Free with task_free. */
struct task *task_open(const struct task_request *request, const struct data_source *data,
                       struct error *error);
void task_free(struct task *task);

/* A task that attnlab draws itself: its name, and the two functions above for it. */
struct task_maker {
    const char *name;
    const char *summary; /* describes the examples to people */
    /* The decisive words of each class, as NULL-terminated lists; NULL if no single word decides. */
    const char *const *decisive_words[2];
    bool draws_in_order; /* an example does not depend on how many follow it, nor on the other split */
    void (*describe)(const struct task_request *request, struct task_summary *summary);
    struct task *(*open)(const struct task_request *request, struct error *error);
};

/* A task on the user's rows (dataset_task.c). The task copies what it needs; the data set may be released
 * once the task is open. */
bool dataset_task_describe(const struct task_request *request, const struct dataset *dataset,
                           struct task_summary *summary, struct error *error);
/* The bytes that a row of text takes in such a task. */
double dataset_task_row_bytes(size_t sequence_length, double text_bytes);
struct task *dataset_task_open(const struct task_request *request, const struct dataset *dataset,
                               struct error *error);

/* All of them, a file in this folder and a line here each, in the order in which people see them. */
#define TASK_TABLE(ENTRY)                                                                                    \
    ENTRY(first_element)                                                                                     \
    ENTRY(reviews)                                                                                           \
    ENTRY(last_element)

#define TASK_DECLARE(word) extern const struct task_maker task_##word;
TASK_TABLE(TASK_DECLARE)
#undef TASK_DECLARE

/* NULL-terminated. */
extern const struct task_maker *const task_makers[];
/* NULL if the name is free for a user's data set. */
const struct task_maker *task_maker_find(const char *name);

#endif
