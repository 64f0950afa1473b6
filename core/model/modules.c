/* A model's layers as modules of PyTorch: see modules.h. */
#include "core/model/modules.h"

#include "core/layers/attention/pooled.h"
#include "core/layers/attention/scalar.h"
#include "core/layers/attention/textbook.h"
#include "core/layers/attention/tiled.h"
#include "core/layers/blocks/encoder_block.h"
#include "core/layers/embedding.h"
#include "core/layers/linear.h"
#include "core/layers/masked_mean.h"
#include "core/layers/positions/learned.h"
#include "core/layers/positions/position.h"
#include "core/layers/positions/sinusoidal.h"
#include "core/layers/recurrent.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The mean over the real steps, for text. */
#define MASKED_MEAN "h = (h * present.unsqueeze(-1)).sum(1) / present.sum(1, keepdim=True).clamp(min=1)"

/* The listing of one layer. */
struct listing {
    struct module_list *list;
    const struct layer *layer;
    bool reads_tokens;         /* the model's examples are padded */
    struct layer_shape output; /* of the last module so far */
};

/* Adds a module with its name within the layer, or with NULL a step of forward. */
static void __attribute__((format(printf, 4, 5)))
add(struct listing *listing, const char *name, const char *type, const char *format, ...) {
    struct module_list *list = listing->list;
    const char *prefix = listing->layer->name;
    assert(list->count < MODEL_MAXIMUM_MODULES);
    struct module *module = &list->modules[list->count++];
    *module =
        (struct module){.type = type, .rank = 2, .shape = {listing->output.steps, listing->output.width}};
    if (name != NULL)
        snprintf(module->name, sizeof module->name, "%.28s%s%.32s", prefix,
                 prefix[0] == '\0' || name[0] == '\0' ? "" : ".", name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(module->code, sizeof module->code, format, arguments);
    va_end(arguments);
}

/* Says that the last module yields a matrix of this shape for each head. */
static void set_matrices(struct listing *listing, size_t heads, size_t rows, size_t columns) {
    struct module *module = &listing->list->modules[listing->list->count - 1];
    size_t *shape = module->shape;
    module->rank = heads == 1 ? 2 : 3;
    if (heads > 1)
        *shape++ = heads;
    shape[0] = rows;
    shape[1] = columns;
}

static void add_linear(struct listing *listing, const char *name, size_t outputs) {
    size_t inputs = listing->output.width;
    listing->output.width = outputs;
    add(listing, name, "Linear", "nn.Linear(%zu, %zu)", inputs, outputs);
}

static void list_linear(struct listing *listing) {
    add_linear(listing, "", listing->layer->output.width);
}

static void list_embedding(struct listing *listing) {
    listing->output = listing->layer->output;
    add(listing, "", "Embedding", "nn.Embedding(%zu, %zu, padding_idx=0)",
        listing->layer->options.vocabulary_size, listing->output.width);
}

static void list_recurrent(struct listing *listing) {
    const struct layer *layer = listing->layer;
    const char *name = layer->type->name;
    listing->output.width = layer->output.width;
    add(listing, "", name, "nn.%s(%zu, %zu, batch_first=True)", name, layer->input.width,
        layer->output.width);
    listing->output = layer->output;
    add(listing, NULL, listing->reads_tokens ? "last real step" : "last step",
        listing->reads_tokens ? "h = h[torch.arange(len(h)), present.sum(1) - 1]" : "h = h[:, -1]");
}

static void add_positions(struct listing *listing) {
    struct layer_shape shape = listing->output;
    add(listing, "pos", "Parameter", "nn.Parameter(0.02 * torch.randn(1, %zu, %zu))", shape.steps,
        shape.width);
}

static void list_learned_positions(struct listing *listing) {
    add_positions(listing);
    add(listing, NULL, "sum", "h = h + pos");
}

static void list_sinusoidal_positions(struct listing *listing) {
    add(listing, NULL, "sinusoidal positions", "h = h + sinusoidal(%zu, %zu)", listing->output.steps,
        listing->output.width);
}

/* What attention does between its projections. */
static void add_attention(struct listing *listing, size_t heads) {
    const struct layer_options *options = &listing->layer->options;
    size_t steps = listing->output.steps, width = listing->output.width, head_width = width / heads;
    bool is_causal = options->mask == ATTENTION_MASK_CAUSAL, has_padding = listing->reads_tokens;
    if (heads > 1) {
        add(listing, NULL, "split",
            "q, k, v = (x.view(-1, %zu, %zu, %zu).transpose(1, 2) for x in (q, k, v))", steps, heads,
            head_width);
        set_matrices(listing, heads, steps, head_width);
    }
    if (position_rotates(options->position)) {
        add(listing, NULL, "rotary positions", "q, k = rotate(q), rotate(k)");
        set_matrices(listing, heads, steps, head_width);
    }
    if (options->unscaled_scores)
        add(listing, NULL, "scores", "scores = q @ k.transpose(-2, -1)");
    else
        add(listing, NULL, "scores", "scores = q @ k.transpose(-2, -1) / math.sqrt(%zu)", head_width);
    set_matrices(listing, heads, steps, steps);
    if (is_causal || has_padding) {
        add(listing, NULL, "mask", "scores = scores.masked_fill(%s%s%s, -math.inf)", is_causal ? "later" : "",
            is_causal && has_padding ? " | " : "", has_padding ? "padding" : "");
        set_matrices(listing, heads, steps, steps);
    }
    add(listing, NULL, "softmax", "h = torch.softmax(scores, -1) @ v");
    set_matrices(listing, heads, steps, head_width);
    if (heads > 1)
        add(listing, NULL, "concatenation", "h = h.transpose(1, 2).reshape(-1, %zu, %zu)", steps, width);
}

static void add_projections(struct listing *listing, const char *query, const char *key, const char *value) {
    size_t width = listing->output.width;
    add_linear(listing, query, width);
    add_linear(listing, key, width);
    add_linear(listing, value, width);
}

static void list_pooled_attention(struct listing *listing) {
    add_projections(listing, "q", "k", "v");
    add_attention(listing, 1);
    listing->output.steps = 1;
    add(listing, NULL, "mean", listing->reads_tokens ? MASKED_MEAN : "h = h.mean(1)");
}

static void list_scalar_attention(struct listing *listing) {
    struct layer position;
    add_linear(listing, "inp", listing->layer->output.width);
    if (scalar_attention_position_layer(listing->layer, &position)) {
        if (position.parameter_count > 0)
            list_learned_positions(listing);
        else
            list_sinusoidal_positions(listing);
    }
    list_pooled_attention(listing);
}

static void add_multi_head(struct listing *listing) {
    const struct layer *layer = listing->layer;
    add_projections(listing, "attn.q", "attn.k", "attn.v");
    add_attention(listing, layer->options.heads);
    add_linear(listing, "attn.out", layer->output.width);
}

static void add_norm(struct listing *listing, const char *name) {
    add(listing, name, "LayerNorm", "nn.LayerNorm(%zu)", listing->output.width);
}

static void add_feedforward(struct listing *listing) {
    const struct layer_options *options = &listing->layer->options;
    bool is_gelu = options->activation == ACTIVATION_GELU;
    add_linear(listing, "ff.0", options->feedforward_width);
    add(listing, "ff.1", is_gelu ? "GELU" : "ReLU", is_gelu ? "nn.GELU()" : "nn.ReLU()");
    add_linear(listing, "ff.2", listing->layer->output.width);
}

static void list_encoder_block(struct listing *listing) {
    bool is_first = listing->layer->options.norm == BLOCK_NORM_FIRST;
    if (is_first)
        add_norm(listing, "norm1");
    add_multi_head(listing);
    add(listing, NULL, "sum", is_first ? "x = x + attn(norm1(x))" : "x = x + attn(x)");
    add_norm(listing, is_first ? "norm2" : "norm1");
    add_feedforward(listing);
    add(listing, NULL, "sum", is_first ? "x = x + ff(norm2(x))" : "x = x + ff(x)");
    if (!is_first)
        add_norm(listing, "norm2");
}

static void list_masked_mean(struct listing *listing) {
    listing->output = listing->layer->output;
    add(listing, NULL, "mean", listing->reads_tokens ? MASKED_MEAN : "h = h.mean(1)");
}

#define RECURRENT_ENTRY(word) {&layer_##word, list_recurrent},

static const struct {
    const struct layer_type *type;
    void (*list)(struct listing *listing);
} table[] = {
    RECURRENT_TABLE(RECURRENT_ENTRY){&layer_linear, list_linear},
    {&layer_embedding, list_embedding},
    {&layer_learned_positions, list_learned_positions},
    {&layer_lab_positions, list_learned_positions},
    {&layer_unused_positions, add_positions},
    {&layer_sinusoidal_positions, list_sinusoidal_positions},
    {&layer_scalar_attention, list_scalar_attention},
    {&layer_unplaced_attention, list_scalar_attention},
    {&layer_pooled_attention, list_pooled_attention},
    {&layer_tiled_attention, list_pooled_attention},
    {&layer_textbook_attention, list_pooled_attention},
    {&layer_textbook_tiled_attention, list_pooled_attention},
    {&layer_encoder_block, list_encoder_block},
    {&layer_masked_mean, list_masked_mean},
};

static void list_layer(struct listing *listing) {
    const struct layer_type *type = listing->layer->type;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].type == type) {
            table[i].list(listing);
            return;
        }
    listing->output = listing->layer->output;
    add(listing, "", type->name, "%s", type->name);
}

bool module_is_known(const struct layer_type *type) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].type == type)
            return true;
    return false;
}

/* A module owns the tensors whose names are its own and one word more; a parameter of the model itself has
 * the tensor's name. */
static bool owns_tensor(const struct module *module, const struct tensor *tensor) {
    const char *last = strrchr(tensor->name, '.');
    size_t length = last == NULL ? strlen(tensor->name) : (size_t)(last - tensor->name);
    return module->name[0] != '\0' && strlen(module->name) == length &&
           strncmp(module->name, tensor->name, length) == 0;
}

/* A module's tensors follow each other, because its constructor creates them together. */
static void assign_tensors(struct module_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        struct module *module = &list->modules[i];
        for (size_t t = 0; t < list->tensor_count; t++)
            if (owns_tensor(module, &list->tensors[t])) {
                module->first_tensor = module->tensor_count == 0 ? t : module->first_tensor;
                module->tensor_count++;
                module->parameter_count += tensor_element_count(&list->tensors[t]);
            }
    }
}

void model_list_modules(const struct model *model, struct module_list *list) {
    list->count = 0;
    list->tensor_count = model_tensors(model, list->tensors);
    struct listing listing = {.list = list, .reads_tokens = model->reads_tokens, .output = model->input};
    for (size_t i = 0; i < model->layer_count; i++) {
        listing.layer = &model->layers[i];
        list_layer(&listing);
    }
    assign_tensors(list);
}
