/* Inspects a trained model: its attention, its predictions, its examples.
 *
 * A run keeps its weights after every epoch, but no attention matrices. The parameters determine the model
 * and the data; together with one set of weights they suffice to recompute every matrix, prediction and
 * exported file with identical bits. An inspection owns a model and the run's test examples; load weights
 * into it before you query it. Not thread-safe: use one per thread, or lock. */
#ifndef ATTNLAB_CORE_TRAINING_INSPECTION_H
#define ATTNLAB_CORE_TRAINING_INSPECTION_H

#include "core/error.h"
#include "core/parameters/set.h"
#include "core/stop_request.h"
#include "core/tasks/data_source.h"
#include "core/training/input_gradient.h"

#include <stddef.h>

struct inspection;
struct model;
struct setup;

/* Returns the bytes that an inspection of this model takes, without the task's examples; SIZE_MAX if that
 * overflows. */
size_t inspection_memory_size(const struct model *model);

/* The bytes that inspection_open would take for these parameters, examples included; SIZE_MAX if that
 * overflows. Fails like task_describe. */
bool inspection_measure(const struct parameter_set *parameters, const struct data_source *data, size_t *bytes,
                        struct error *error);

enum { INSPECTION_HEAD_MEAN = -1 };

/* `parameters` are those of a train run, checked and complete. `stop` interrupts the drawing of the examples,
 * and may be NULL. Returns NULL on failure. */
struct inspection *inspection_open(const struct parameter_set *parameters, const struct data_source *data,
                                   const struct stop_request *stop, struct error *error);
/* Inspects the task and the model of a run in progress, instead of opening the task again. The setup is
 * borrowed and must outlive the inspection. */
struct inspection *inspection_open_setup(const struct setup *setup, struct error *error);
void inspection_close(struct inspection *inspection);
/* From now on, questions that take many examples fail with ERROR_CANCELLED once `stop` (borrowed; NULL:
 * never) is requested. */
void inspection_set_stop(struct inspection *inspection, const struct stop_request *stop);

/* Borrowed. */
const struct model *inspection_model(const struct inspection *inspection);
size_t inspection_weight_count(const struct inspection *inspection);
/* The number of attention layers and of heads in each; 0 if the model has no attention. */
size_t inspection_layer_count(const struct inspection *inspection);
size_t inspection_head_count(const struct inspection *inspection);
size_t inspection_test_example_count(const struct inspection *inspection);
/* The length of the model's sequences. */
size_t inspection_step_count(const struct inspection *inspection);
size_t inspection_class_count(const struct inspection *inspection);
const char *inspection_class_name(const struct inspection *inspection, size_t index);

/* Copies `count` weights into the model. ERROR_INVALID if the model has another number of weights. */
bool inspection_load_weights(struct inspection *inspection, const float *weights, size_t count,
                             struct error *error);

/* One attention matrix, or some of its rows. The inspection owns weights[queries][keys] and the labels; they
 * are valid until its next call. For text there is no padding and the labels are the words; for numbers they
 * are the steps "0", "1", ... */
struct attention_matrix {
    size_t queries, keys;
    size_t first_query, all_queries; /* the first row's query, and the number of the example's queries */
    const float *weights;
    const char *const *query_labels; /* [queries] */
    const char *const *key_labels;   /* [keys] */
};

/* Selects `count` queries from `first` on, or as many as there are. Count 0 selects the most that one call
 * may return: all queries, but for long sequences (core/layers/attention/tiled.h) only a million weights'
 * worth. */
struct attention_window {
    size_t first, count;
};

/* The most queries that one call may return. */
size_t inspection_query_limit(const struct inspection *inspection);

/* `example` is an index in the test set; `head` is a number or INSPECTION_HEAD_MEAN. ERROR_CONFLICT if the
 * model has no attention; ERROR_INVALID if layer, head, example or window is out of range, with a message
 * that states the range. */
bool inspection_attention_rows(struct inspection *inspection, size_t example, size_t layer, int head,
                               struct attention_window window, struct attention_matrix *matrix,
                               struct error *error);
/* With the window {0, 0}. */
bool inspection_attention(struct inspection *inspection, size_t example, size_t layer, int head,
                          struct attention_matrix *matrix, struct error *error);

/* Finds the key that gets the most attention in the first layer, averaged over all queries and heads. */
bool inspection_most_attended(struct inspection *inspection, size_t example, size_t *key,
                              struct error *error);

/* The first layer's attention by key position, averaged over the first 200 test examples and all heads and
 * queries. weights[keys] is valid until the inspection's next call. */
struct attention_mean {
    size_t keys;
    const float *weights;
    size_t argmax;
    double first; /* the weight of key 0 */
    double rest;  /* the mean of all other keys */
};
bool inspection_mean_attention(struct inspection *inspection, struct attention_mean *mean,
                               struct error *error);

/* How much gradient reaches each input step, over the first training examples: `*examples`, or as many as
 * there are, which it is set to. They are taken in parts of at most INSPECTION_GRADIENT_MEMORY bytes.
 * ERROR_CONFLICT if the model reads tokens, which have no gradient; ERROR_TOO_LARGE if one example takes more
 * than that. Free with input_gradient_free, even after a failure. */
enum { INSPECTION_GRADIENT_MEMORY = 16 << 20 };
bool inspection_input_gradient(struct inspection *inspection, size_t *examples,
                               struct input_gradient *gradient, struct error *error);

/* One prediction. A sequence is given as in the data; it is standardised if the run's were. The inspection
 * owns all of it; it is valid until the next call. */
struct prediction {
    size_t label; /* index of the largest logit */
    size_t class_count;
    const float *logits;        /* [class_count] */
    const float *probabilities; /* [class_count] */
    size_t token_count;         /* text only */
    const char *const *tokens;  /* text only: as the model saw them, truncated to the trained length */
    const bool *unknown;        /* text only: not in the model's vocabulary */
    size_t layers, heads;       /* 0 without attention */
    size_t length;              /* queries and keys of `attention` */
    const float
        *attention; /* [layers][heads][length][length]; NULL for long sequences: see attention_window */
};
bool inspection_predict_sequence(struct inspection *inspection, const float *values, size_t length,
                                 struct prediction *prediction, struct error *error);
bool inspection_predict_text(struct inspection *inspection, const char *text, struct prediction *prediction,
                             struct error *error);

/* Writes the loaded weights in the safetensors format with PyTorch's names, and in its metadata the mean and
 * deviation of every column if the run standardised them. Release *bytes with free(). */
bool inspection_write_safetensors(struct inspection *inspection, void **bytes, size_t *size,
                                  struct error *error);

/* One training or test example, as the run sees it. */
struct inspection_example {
    size_t label;
    const float *values; /* numbers: [length] */
    size_t length;
    const char *text;          /* text: as written */
    const char *const *tokens; /* text: [token_count] */
    size_t token_count;
    const bool *unknown;   /* text: [token_count] */
    int decisive_position; /* text: the word that decides, or -1 if the data does not tell */
};
size_t inspection_train_example_count(const struct inspection *inspection);
bool inspection_example(struct inspection *inspection, bool test_split, size_t index,
                        struct inspection_example *example, struct error *error);

#endif
