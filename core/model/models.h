/* The models that have a name: rnn, lstm, attention, transformer.
 *
 * Each is built from the same options and takes from them what concerns it. On numbers a model begins with
 * what the chapter's class begins with; on text with an embedding. Each ends with a linear layer to the
 * classes. */
#ifndef ATTNLAB_CORE_MODEL_MODELS_H
#define ATTNLAB_CORE_MODEL_MODELS_H

#include "core/model/model.h"

enum { MODEL_MAXIMUM_BLOCKS = 12 };

/* Whether attention keeps its matrix of weights (core/layers/attention/tiled.h): by the length of the
 * sequence, or as told, for comparing the two. */
enum attention_storage { ATTENTION_BY_LENGTH, ATTENTION_WITH_MATRIX, ATTENTION_IN_TILES };

struct model_options {
    size_t steps;           /* T */
    size_t vocabulary_size; /* 0: the examples are numbers */
    size_t class_count;
    size_t width;                    /* d_model, or the size of the hidden state */
    const struct position *position; /* NULL: none */
    enum attention_mask mask;
    enum attention_storage storage;
    size_t heads, layers, feedforward_width; /* transformer; at most MODEL_MAXIMUM_BLOCKS layers */
    enum activation activation;              /* transformer */
};

struct model_entry {
    const char *name;
    bool has_attention; /* takes position and mask */
    bool has_blocks;    /* takes heads, layers, feedforward_width, activation */
    void (*build)(struct model *model, const struct model_options *options);
};

extern const struct model_entry model_table[];
extern const size_t model_table_count;

/* NULL where there is none of that name. */
const struct model_entry *model_find(const char *name);

/* The options must fit: class_count and steps above 0, heads dividing width. */
struct model model_build(const struct model_entry *entry, const struct model_options *options);

#endif
