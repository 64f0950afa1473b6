/* The named models: see models.h. */
#include "core/model/models.h"

#include "core/layers/blocks/encoder_block.h"
#include "core/layers/embedding.h"
#include "core/layers/linear.h"
#include "core/layers/masked_mean.h"
#include "core/layers/positions/learned.h"
#include "core/layers/positions/position.h"
#include "core/layers/recurrent.h"

#include <string.h>

/* Text begins with an embedding. */
static void add_embedding(struct model *model, const struct model_options *options) {
    struct layer_options embedding = {.vocabulary_size = options->vocabulary_size};
    model_add_layer(model, &layer_embedding, "embed", options->width, &embedding);
}

/* The chapter's SeqModel: a recurrent layer, then a linear layer from its last hidden state to the classes.
 */
static void build_recurrent(struct model *model, const struct model_entry *entry,
                            const struct model_options *options) {
    if (model->reads_tokens)
        add_embedding(model, options);
    model_add_layer(model, entry->recurrence, "rnn", options->width, NULL);
    model_add_layer(model, &layer_linear, "fc", options->class_count, NULL);
}

/* Maps every step to a vector of the model's width. */
static void add_input(struct model *model, const struct model_options *options) {
    if (model->reads_tokens)
        add_embedding(model, options);
    else
        model_add_layer(model, &layer_linear, "inp", options->width, NULL);
}

/* The chapter's Attention. For single numbers one layer may replace the first three. */
static void build_attention(struct model *model, const struct model_entry *entry,
                            const struct model_options *options) {
    (void)entry;
    struct layer_options attention = {.heads = 1,
                                      .mask = options->mask,
                                      .unscaled_scores = options->unscaled_scores,
                                      .position = options->position};
    struct attention_request request = {.steps = options->steps,
                                        .takes_numbers = !model->reads_tokens,
                                        .mask = options->mask,
                                        .position = options->position,
                                        .storage = options->storage};
    const struct layer_type *type = attention_choose_layer(&request);
    if (!attention_includes_input(type)) {
        add_input(model, options);
        if (position_adds(options->position))
            model_add_layer(model, options->position->layer, "", 0, NULL);
    }
    model_add_layer(model, type, "", options->width, &attention);
    model_add_layer(model, &layer_linear, "fc", options->class_count, NULL);
}

/* The lab's TinyTransformer; with several layers its block becomes a list of blocks. If the position adds
 * nothing, the class still has the tensor and draws it. */
static void build_transformer(struct model *model, const struct model_entry *entry,
                              const struct model_options *options) {
    (void)entry;
    static const char *const block_names[MODEL_MAXIMUM_BLOCKS] = {
        "blocks.0", "blocks.1", "blocks.2", "blocks.3", "blocks.4",  "blocks.5",
        "blocks.6", "blocks.7", "blocks.8", "blocks.9", "blocks.10", "blocks.11"};
    /* Nothing reads a block's output at padding: the mean at the end and attention in the next block skip it.
     */
    struct layer_options block = {.heads = options->heads,
                                  .mask = options->mask,
                                  .unscaled_scores = options->unscaled_scores,
                                  .position = options->position,
                                  .norm = options->norm,
                                  .skips_padding = true,
                                  .feedforward_width = options->feedforward_width,
                                  .activation = options->activation};
    add_input(model, options);
    const struct layer_type *positions =
        position_adds(options->position) ? options->position->layer : &layer_unused_positions;
    model_add_layer(model, positions == &layer_learned_positions ? &layer_lab_positions : positions, "", 0,
                    NULL);
    for (size_t i = 0; i < options->layers; i++)
        model_add_layer(model, &layer_encoder_block, options->layers == 1 ? "block" : block_names[i], 0,
                        &block);
    model_add_layer(model, &layer_masked_mean, "", 0, NULL);
    model_add_layer(model, &layer_linear, "head", options->class_count, NULL);
}

static const char *const recurrent_parameters[] = {"width", NULL};
static const char *const attention_parameters[] = {"width", "position", "mask", "scale", NULL};
static const char *const transformer_parameters[] = {
    "width", "position", "mask", "scale", "heads", "layers", "norm", "feedforward_width", "activation", NULL};

#define RECURRENT_ENTRY(word)                                                                                \
    {.name = #word,                                                                                          \
     .recurrence = &layer_##word,                                                                            \
     .parameters = recurrent_parameters,                                                                     \
     .path = MODEL_PATH_CHAIN,                                                                               \
     .build = build_recurrent},

const struct model_entry model_table[] = {
    RECURRENT_TABLE(RECURRENT_ENTRY){.name = "attention",
                                     .title = "attention",
                                     .parameters = attention_parameters,
                                     .path = MODEL_PATH_DIRECT,
                                     .build = build_attention},
    {.name = "transformer",
     .title = "transformer",
     .parameters = transformer_parameters,
     .path = MODEL_PATH_DIRECT,
     .build = build_transformer},
};
const size_t model_table_count = sizeof model_table / sizeof model_table[0];

const struct model_entry *model_find(const char *name) {
    for (size_t i = 0; i < model_table_count; i++)
        if (strcmp(model_table[i].name, name) == 0)
            return &model_table[i];
    return NULL;
}

const char *model_title(const struct model_entry *entry) {
    return entry->title != NULL ? entry->title : entry->recurrence->name;
}

bool model_takes(const struct model_entry *entry, const char *parameter) {
    for (const char *const *name = entry->parameters; *name != NULL; name++)
        if (strcmp(*name, parameter) == 0)
            return true;
    return false;
}

bool model_has_attention(const struct model_entry *entry) {
    return model_takes(entry, "mask"); /* only attention has a mask */
}

struct model model_build(const struct model_entry *entry, const struct model_options *options) {
    struct model model = {.reads_tokens = options->vocabulary_size > 0, .class_count = options->class_count};
    model.input = (struct layer_shape){options->steps, model.reads_tokens ? 0 : 1};
    entry->build(&model, entry, options);
    return model;
}
