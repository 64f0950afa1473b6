/* The models that have a name: see models.h. */
#include "core/model/models.h"

#include "core/layers/linear.h"
#include "core/layers/pooled_attention.h"
#include "core/layers/positions.h"
#include "core/layers/recurrent.h"
#include "core/layers/sinusoidal_position.h"

#include <string.h>

/* The chapter's SeqModel: a recurrent layer over the numbers, its last hidden state to the classes. */
static void build_rnn(struct model *model, const struct model_options *options) {
    model_add_layer(model, &layer_rnn, "rnn", options->width, NULL);
    model_add_layer(model, &layer_linear, "fc", options->class_count, NULL);
}

static void build_lstm(struct model *model, const struct model_options *options) {
    model_add_layer(model, &layer_lstm, "rnn", options->width, NULL);
    model_add_layer(model, &layer_linear, "fc", options->class_count, NULL);
}

/* The chapter's Attention. */
static void build_attention(struct model *model, const struct model_options *options) {
    struct layer_options attention = {.heads = 1, .mask = options->mask};
    model_add_layer(model, &layer_linear, "inp", options->width, NULL);
    if (options->position == POSITION_LEARNED)
        model_add_layer(model, &layer_learned_positions, "", 0, NULL);
    else if (options->position == POSITION_SINUSOIDAL)
        model_add_layer(model, &layer_sinusoidal_position, "", 0, NULL);
    model_add_layer(model, &layer_pooled_attention, "", 0, &attention);
    model_add_layer(model, &layer_linear, "fc", options->class_count, NULL);
}

const struct model_entry model_table[] = {
    {"rnn", false, false, build_rnn},
    {"lstm", false, false, build_lstm},
    {"attention", true, false, build_attention},
};
const size_t model_table_count = sizeof model_table / sizeof model_table[0];

const struct model_entry *model_find(const char *name) {
    for (size_t i = 0; i < model_table_count; i++)
        if (strcmp(model_table[i].name, name) == 0)
            return &model_table[i];
    return NULL;
}

struct model model_build(const struct model_entry *entry, const struct model_options *options) {
    struct model model = {.reads_tokens = options->vocabulary_size > 0, .class_count = options->class_count};
    model.input = (struct layer_shape){options->steps, model.reads_tokens ? 0 : 1};
    entry->build(&model, options);
    return model;
}
