/* A task: labelled examples, split for training and testing, as the model sees them.
 *
 * Tasks that attnlab draws itself (first-element, reviews) and the user's data sets end up in this one form:
 * numbers [count][T] or token ids [count][T]. Everything a training run, an inspection and the examples over
 * HTTP show is read from here, so that all see the very same numbers. Immutable once made. */
#ifndef ATTNLAB_CORE_TASKS_TASK_H
#define ATTNLAB_CORE_TASKS_TASK_H

#include "core/error.h"
#include "core/stop_request.h"
#include "core/tasks/data_source.h"
#include "core/tasks/dataset.h"

#include <stdint.h>

enum { TOKEN_PADDING = 0, TOKEN_UNKNOWN = 1, TOKEN_FIRST_WORD = 2 };

/* One split. Rows are without gaps; pointers belong to the task. */
struct example_set {
    size_t count;
    const float *values;      /* numbers: [count][T]; else NULL */
    const int32_t *tokens;    /* text: [count][T] ids, padded at the end with TOKEN_PADDING; else NULL */
    const int32_t *labels;    /* [count], each below class_count */
    const char *const *texts; /* text: [count] as written; else NULL */
    const char *const
        *words; /* text: [count][T] the tokens as words (the unknown ones too), NULL at padding */
    const int32_t *decisive; /* text: [count] position of the word that decides, or -1; NULL: not known */
};

struct task {
    enum dataset_kind kind;
    size_t sequence_length; /* T */
    size_t class_count;
    const char *const *class_names; /* [class_count] */
    size_t vocabulary_size;         /* text: ids are below this; 0 for numbers */
    const char *const *vocabulary;  /* text: [vocabulary_size] word of each id; "" for padding and unknown */
    struct example_set train, test;
    /* Text: ids and words of a new text; fills tokens[T] and words[T] as in example_set (owned by `memory`,
     * released with free()); returns how many tokens it has, at most T. NULL for numbers. */
    bool (*encode)(const struct task *task, const char *text, int32_t *tokens, const char **words,
                   size_t *count, void **memory, struct error *error);
    void (*destroy)(struct task *task);
    void *owner; /* the maker's */
};

/* What a run asks for. Zero counts and lengths mean the task's default. */
struct task_request {
    const char *name; /* "first-element", "reviews", or the name of a data set of the user */
    size_t sequence_length;
    size_t train_examples, test_examples;
    uint64_t train_seed, test_seed;  /* of the drawn data: numpy's stream */
    const struct stop_request *stop; /* asked at every example; NULL: never */
};

/* What is known of a task before it is made; `request`'s zeros are filled in with the task's defaults. */
struct task_summary {
    enum dataset_kind kind;
    size_t sequence_length, train_examples, test_examples;
    size_t sequence_length_maximum; /* above it the task has nothing more; SIZE_MAX: no limit of its own */
    size_t example_maximum; /* most examples, train and test together; SIZE_MAX where they are drawn */
    size_t class_count;
    size_t vocabulary_maximum; /* an upper bound of vocabulary_size; 0 for numbers */
};

/* ERROR_MISSING where there is no such task. */
bool task_describe(const struct task_request *request, const struct data_source *data,
                   struct task_summary *summary, struct error *error);

/* Draws or encodes the examples. ERROR_CANCELLED where that was stopped. Free with task_free. */
struct task *task_open(const struct task_request *request, const struct data_source *data,
                       struct error *error);
void task_free(struct task *task);

/* Tasks that attnlab draws itself: a name, and the two functions above for it. One line each in task.c. */
struct task_maker {
    const char *name;
    const char *summary; /* for people: what the examples are */
    /* The words that decide, by class, each list NULL-terminated; NULL where it is not a word that decides.
     */
    const char *const *decisive_words[2];
    void (*describe)(const struct task_request *request, struct task_summary *summary);
    struct task *(*open)(const struct task_request *request, struct error *error);
};

/* A task over the user's rows: what lies behind every name that is no task_maker's (dataset_task.c). The task
 * copies what it needs; the data set may be released once it is open. */
bool dataset_task_describe(const struct task_request *request, const struct dataset *dataset,
                           struct task_summary *summary, struct error *error);
struct task *dataset_task_open(const struct task_request *request, const struct dataset *dataset,
                               struct error *error);

/* NULL-terminated. */
extern const struct task_maker *const task_makers[];
/* NULL where the name is free for a data set of the user. */
const struct task_maker *task_maker_find(const char *name);

extern const struct task_maker task_first_element; /* first_element.c */
extern const struct task_maker task_reviews;       /* reviews.c */

#endif
