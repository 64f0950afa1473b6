/* The models that have a name, in model_table.
 *
 * Each is built from the same options and takes from them what concerns it. On numbers a model begins with
 * what the chapter's class begins with; on text with an embedding. Each ends with a linear layer to the
 * classes. */
#ifndef ATTNLAB_CORE_MODEL_MODELS_H
#define ATTNLAB_CORE_MODEL_MODELS_H

#include "core/layers/attention/attention.h"
#include "core/model/model.h"

enum { MODEL_MAXIMUM_BLOCKS = 12 };

struct model_options {
    size_t steps;           /* T */
    size_t vocabulary_size; /* 0: the examples are numbers */
    size_t class_count;
    size_t width;                    /* d_model, or the size of the hidden state */
    const struct position *position; /* NULL: none */
    enum attention_mask mask;
    enum attention_storage storage;          /* attention */
    size_t heads, layers, feedforward_width; /* transformer; at most MODEL_MAXIMUM_BLOCKS layers */
    enum activation activation;              /* transformer */
};

/* How a signal gets from an input step to the output: along the steps between, or at once. */
enum model_path { MODEL_PATH_UNMEASURED, MODEL_PATH_CHAIN, MODEL_PATH_DIRECT };

/* All that is known of a model by name: checks, help, the form on the page and the lists of models come from
 * here. */
struct model_entry {
    const char *name;
    const char *title;                   /* for people; NULL: its recurrent layer's name */
    const struct layer_type *recurrence; /* its recurrent layer, or NULL */
    const char *const *parameters;       /* NULL-terminated: those of `train` that describe it */
    enum model_path path;
    void (*build)(struct model *model, const struct model_entry *entry, const struct model_options *options);
};

extern const struct model_entry model_table[];
extern const size_t model_table_count;

/* NULL if there is none of that name. */
const struct model_entry *model_find(const char *name);
/* What people call it. */
const char *model_title(const struct model_entry *entry);
/* Whether the parameter of that name describes the model; the others mean nothing to it. */
bool model_takes(const struct model_entry *entry, const char *parameter);
/* Whether it has attention matrices to look at. */
bool model_has_attention(const struct model_entry *entry);

/* The options must fit: class_count and steps above 0, heads dividing width. */
struct model model_build(const struct model_entry *entry, const struct model_options *options);

#endif
