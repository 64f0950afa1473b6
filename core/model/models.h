/* The named models, in model_table.
 *
 * All are built from the same options; each uses those that apply to it. For numbers a model begins like the
 * chapter's class, for text with an embedding. Each ends with a linear layer to the classes. */
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
    bool unscaled_scores;                    /* see struct layer_options */
    enum attention_storage storage;          /* attention */
    size_t heads, layers, feedforward_width; /* transformer; at most MODEL_MAXIMUM_BLOCKS layers */
    enum block_norm norm;                    /* transformer */
    enum activation activation;              /* transformer */
};

/* A signal's path from an input step to the output: through all steps in between, or direct. */
enum model_path { MODEL_PATH_UNMEASURED, MODEL_PATH_CHAIN, MODEL_PATH_DIRECT };

/* Everything that is known about a named model. The checks, the help, the page's form and the lists of models
 * come from here. */
struct model_entry {
    const char *name;
    const char *title;                   /* for people; NULL: the name of its recurrent layer */
    const struct layer_type *recurrence; /* its recurrent layer, or NULL */
    const char *const *parameters;       /* NULL-terminated: the parameters of `train` that it uses */
    enum model_path path;
    void (*build)(struct model *model, const struct model_entry *entry, const struct model_options *options);
};

extern const struct model_entry model_table[];
extern const size_t model_table_count;

/* Returns NULL if no model has that name. */
const struct model_entry *model_find(const char *name);
/* Its name for people. */
const char *model_title(const struct model_entry *entry);
/* Whether the model uses the parameter of that name. */
bool model_takes(const struct model_entry *entry, const char *parameter);
/* Whether it has attention matrices to show. */
bool model_has_attention(const struct model_entry *entry);

/* The options must be valid: class_count and steps above 0, and width a multiple of heads. */
struct model model_build(const struct model_entry *entry, const struct model_options *options);

#endif
