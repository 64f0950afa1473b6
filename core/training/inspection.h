/* A trained model opened for questions.
 *
 * A run keeps its weights after every epoch, not its attention matrices: from the parameters (which say which
 * model and which data) and one set of weights every matrix, prediction and exported file is computed again,
 * to the bit. An inspection owns a model and the run's test examples; load weights into it, then ask. Not
 * thread-safe; use one per thread, or lock. */
#ifndef ATTNLAB_CORE_TRAINING_INSPECTION_H
#define ATTNLAB_CORE_TRAINING_INSPECTION_H

#include "core/error.h"
#include "core/parameters/set.h"
#include "core/tasks/data_source.h"

#include <stddef.h>

struct inspection;
struct model;

/* Bytes an inspection of such a model takes beside the task's examples; SIZE_MAX where that overflows. */
size_t inspection_memory_size(const struct model *model);

enum { INSPECTION_HEAD_MEAN = -1 };

/* `parameters` are a train run's (checked and completed). Returns NULL on failure. */
struct inspection *inspection_open(const struct parameter_set *parameters, const struct data_source *data,
                                   struct error *error);
void inspection_close(struct inspection *inspection);

size_t inspection_weight_count(const struct inspection *inspection);
/* Attention layers and heads of each; 0 where the model has no attention. */
size_t inspection_layer_count(const struct inspection *inspection);
size_t inspection_head_count(const struct inspection *inspection);
size_t inspection_test_example_count(const struct inspection *inspection);
size_t inspection_class_count(const struct inspection *inspection);
const char *inspection_class_name(const struct inspection *inspection, size_t index);

/* Copies `count` weights in. ERROR_INVALID where the count is not the model's. */
bool inspection_load_weights(struct inspection *inspection, const float *weights, size_t count,
                             struct error *error);

/* One attention matrix, or some of its rows. weights[queries][keys] and the labels belong to the inspection
 * until its next call. Text: padding is cut off and the labels are the words; numbers: the labels are the
 * steps "0", "1", ... */
struct attention_matrix {
    size_t queries, keys;
    size_t first_query, all_queries; /* which of the example's queries these are */
    const float *weights;
    const char *const *query_labels; /* [queries] */
    const char *const *key_labels;   /* [keys] */
};

/* Which queries are asked for: `count` from `first` on, and no more than there are. Count 0: as many as may
 * be asked for at once, which is all but for long sequences (core/layers/attention/tiled.h): there a million
 * weights' worth. */
struct attention_window {
    size_t first, count;
};

/* The most queries that may be asked for at once. */
size_t inspection_query_limit(const struct inspection *inspection);

/* `example` counts in the test set; `head` is a number or INSPECTION_HEAD_MEAN. ERROR_CONFLICT where the
 * model has no attention; ERROR_INVALID where the layer, head, example or window is out of range: the message
 * says what there is. */
bool inspection_attention_rows(struct inspection *inspection, size_t example, size_t layer, int head,
                               struct attention_window window, struct attention_matrix *matrix,
                               struct error *error);
/* With the window {0, 0}. */
bool inspection_attention(struct inspection *inspection, size_t example, size_t layer, int head,
                          struct attention_matrix *matrix, struct error *error);

/* The key that gets most attention in the first layer, averaged over all queries and heads. */
bool inspection_most_attended(struct inspection *inspection, size_t example, size_t *key,
                              struct error *error);

/* Attention by key position, averaged over the first 200 test examples, all heads and queries (of the first
 * attention layer). weights[keys] as above. */
struct attention_mean {
    size_t keys;
    const float *weights;
    size_t argmax;
    double first; /* the weight of key 0 */
    double rest;  /* the mean of all other keys */
};
bool inspection_mean_attention(struct inspection *inspection, struct attention_mean *mean,
                               struct error *error);

/* One answer; everything belongs to the inspection until its next call. */
struct prediction {
    size_t label; /* index of the largest logit */
    size_t class_count;
    const float *logits;        /* [class_count] */
    const float *probabilities; /* [class_count] */
    size_t token_count;         /* text only */
    const char *const *tokens;  /* text only: as the model saw them, cut at the trained length */
    const bool *unknown;        /* text only: not in the training vocabulary */
    size_t layers, heads;       /* 0 without attention */
    size_t length;              /* queries and keys of `attention` */
    const float
        *attention; /* [layers][heads][length][length]; NULL for long sequences: see attention_window */
};
bool inspection_predict_sequence(struct inspection *inspection, const float *values, size_t length,
                                 struct prediction *prediction, struct error *error);
bool inspection_predict_text(struct inspection *inspection, const char *text, struct prediction *prediction,
                             struct error *error);

/* The loaded weights in the safetensors format under PyTorch's names; *bytes is released with free(). */
bool inspection_write_safetensors(struct inspection *inspection, void **bytes, size_t *size,
                                  struct error *error);

/* One example of either split, as the run sees it. */
struct inspection_example {
    size_t label;
    const float *values; /* numbers: [length] */
    size_t length;
    const char *text;          /* text: as written */
    const char *const *tokens; /* text: [token_count] */
    size_t token_count;
    const bool *unknown;   /* text: [token_count] */
    int decisive_position; /* text: the word that decides, or -1 where the data does not say */
};
size_t inspection_train_example_count(const struct inspection *inspection);
bool inspection_example(struct inspection *inspection, bool test_split, size_t index,
                        struct inspection_example *example, struct error *error);

#endif
