/* A transformer encoder block: see encoder_block.h. */
#include "core/layers/blocks/encoder_block.h"

#include "core/layers/attention/multi_head.h"
#include "core/layers/attention/pairs.h"
#include "core/layers/feedforward.h"
#include "core/layers/layer_norm.h"

#include <string.h>

/* The sizes of a pass over `count` examples. */
struct block {
    size_t capacity, width; /* count * steps */
    struct multi_head_shape attention;
    struct multi_head_layout layout;
    struct feedforward_shape feedforward; /* its rows do not include skipped padding */
    enum block_norm norm;
    /* Offsets of the parts' parameters; those of attention start at 0. */
    size_t norm1, feed, norm2;
};

static bool has_torch_layout(const struct layer *layer) {
    return layer->type == &layer_torch_encoder_block;
}

/* For `count` examples, without regard to padding. */
static struct block block_of(const struct layer *layer, size_t count) {
    size_t width = layer->input.width, rows = count * layer->input.steps;
    const struct layer_options *options = &layer->options;
    struct block block = {.capacity = rows, .width = width, .norm = options->norm};
    block.attention = multi_head_shape_of(layer, count);
    block.attention.skips_padding = options->skips_padding;
    block.layout =
        has_torch_layout(layer) ? multi_head_layout_torch(width) : multi_head_layout_separate(width);
    block.feedforward =
        (struct feedforward_shape){rows, width, options->feedforward_width, options->activation};
    block.norm1 = block.layout.parameter_count;
    block.feed = block.norm1 + 2 * width;
    block.norm2 = block.feed + feedforward_parameter_count(width, options->feedforward_width);
    return block;
}

/* The values saved from forward to backward. */
struct block_saved {
    float *input; /* [rows][width]: without skipped padding */
    /* [rows][width]. The first norm's output, and input + attention. Norm last: normal1 + feed-forward; norm
     * first: the second norm's output. */
    float *normal1, *sum1, *second;
    float *statistics1, *statistics2; /* [rows][2], of the two norms */
    float *attention, *feedforward;   /* see the parts */
};

static struct block_saved block_saved_of(const struct block *block, float *saved) {
    size_t size = block->capacity * block->width;
    struct block_saved at;
    at.input = saved;
    at.sum1 = at.input + (block->attention.skips_padding ? size : 0);
    at.normal1 = at.sum1 + size;
    at.second = at.normal1 + size;
    at.statistics1 = at.second + size;
    at.statistics2 = at.statistics1 + 2 * block->capacity;
    at.attention = at.statistics2 + 2 * block->capacity;
    at.feedforward = at.attention + multi_head_saved_size(&block->attention);
    return at;
}

static size_t saved_size(const struct layer *layer, size_t count) {
    struct block block = block_of(layer, count);
    size_t matrices = block.attention.skips_padding ? 4 : 3;
    return block.capacity * (matrices * block.width + 4) + multi_head_saved_size(&block.attention) +
           feedforward_saved_size(&block.feedforward);
}

/* The feed-forward part and attention share scratch, because they run one after the other. Packed gradients,
 * and with the norm first a part's own gradient, lie before it. */
static size_t scratch_size(const struct layer *layer, size_t count) {
    struct block block = block_of(layer, count);
    size_t attention = multi_head_scratch_size(&block.attention);
    size_t feedforward = block.capacity * block.feedforward.hidden;
    size_t gradients = (block.attention.skips_padding ? 2U : 0U) + (block.norm == BLOCK_NORM_FIRST ? 1U : 0U);
    return gradients * block.capacity * block.width + (attention > feedforward ? attention : feedforward);
}

static size_t describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    size_t count = 0, width = layer->input.width, hidden = layer->options.feedforward_width;
    multi_head_describe(width, has_torch_layout(layer), "attn.", tensors, &count);
    tensor_describe(tensors, &count, "norm1.weight", width, 0);
    tensor_describe(tensors, &count, "norm1.bias", width, 0);
    tensor_describe(tensors, &count, "ff.0.weight", hidden, width);
    tensor_describe(tensors, &count, "ff.0.bias", hidden, 0);
    tensor_describe(tensors, &count, "ff.2.weight", width, hidden);
    tensor_describe(tensors, &count, "ff.2.bias", width, 0);
    tensor_describe(tensors, &count, "norm2.weight", width, 0);
    tensor_describe(tensors, &count, "norm2.bias", width, 0);
    return count;
}

static void initialise(const struct layer *layer, float *parameters, struct torch_generator *generator) {
    struct block block = block_of(layer, 0);
    size_t width = block.width;
    multi_head_initialise(width, has_torch_layout(layer), parameters, generator);
    layer_norm_initialise(parameters + block.norm1, parameters + block.norm1 + width, width);
    feedforward_initialise(parameters + block.feed, width, block.feedforward.hidden, generator);
    layer_norm_initialise(parameters + block.norm2, parameters + block.norm2 + width, width);
}

/* Packs the rows of the steps present. */
static void pack_rows(const struct block *block, const uint8_t *present, const float *all, float *packed) {
    for (size_t row = 0; row < block->capacity; row++, all += block->width)
        if (present[row] != 0) {
            memcpy(packed, all, block->width * sizeof *packed);
            packed += block->width;
        }
}

/* Unpacks to all rows; the rows of padding become 0. */
static void unpack_rows(const struct block *block, const uint8_t *present, const float *packed, float *all) {
    for (size_t row = 0; row < block->capacity; row++, all += block->width)
        if (present[row] != 0) {
            memcpy(all, packed, block->width * sizeof *all);
            packed += block->width;
        } else {
            memset(all, 0, block->width * sizeof *all);
        }
}

/* The forward pass over block->feedforward.rows rows. */
static void forward_norm_last(const struct block *block, const struct block_saved *at,
                              const float *parameters, const float *input, float *output,
                              const struct layer_pass *pass) {
    size_t rows = block->feedforward.rows, width = block->width;
    const float *norm1 = parameters + block->norm1, *norm2 = parameters + block->norm2;

    multi_head_forward(&block->attention, &block->layout, parameters, input, at->sum1, at->attention, pass);
    pass->kernels->add_values(at->sum1, input, rows * width);
    layer_norm_forward(norm1, norm1 + width, at->sum1, at->normal1, at->statistics1, rows, width,
                       pass->kernels);

    feedforward_forward(&block->feedforward, parameters + block->feed, at->normal1, at->second,
                        at->feedforward, pass->kernels);
    pass->kernels->add_values(at->second, at->normal1, rows * width);
    layer_norm_forward(norm2, norm2 + width, at->second, output, at->statistics2, rows, width, pass->kernels);
}

static void forward_norm_first(const struct block *block, const struct block_saved *at,
                               const float *parameters, const float *input, float *output,
                               const struct layer_pass *pass) {
    size_t rows = block->feedforward.rows, width = block->width;
    const float *norm1 = parameters + block->norm1, *norm2 = parameters + block->norm2;

    layer_norm_forward(norm1, norm1 + width, input, at->normal1, at->statistics1, rows, width, pass->kernels);
    multi_head_forward(&block->attention, &block->layout, parameters, at->normal1, at->sum1, at->attention,
                       pass);
    pass->kernels->add_values(at->sum1, input, rows * width);

    layer_norm_forward(norm2, norm2 + width, at->sum1, at->second, at->statistics2, rows, width,
                       pass->kernels);
    feedforward_forward(&block->feedforward, parameters + block->feed, at->second, output, at->feedforward,
                        pass->kernels);
    pass->kernels->add_values(output, at->sum1, rows * width);
}

static void forward_rows(const struct block *block, const struct block_saved *at, const float *parameters,
                         const float *input, float *output, const struct layer_pass *pass) {
    if (block->norm == BLOCK_NORM_FIRST)
        forward_norm_first(block, at, parameters, input, output, pass);
    else
        forward_norm_last(block, at, parameters, input, output, pass);
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    struct block block = block_of(layer, pass->count);
    struct block_saved at = block_saved_of(&block, saved);
    if (!block.attention.skips_padding || pass->present == NULL) {
        forward_rows(&block, &at, parameters, input, output, pass);
        return;
    }
    block.feedforward.rows = multi_head_row_count(&block.attention, pass);
    pack_rows(&block, pass->present, input, at.input);
    forward_rows(&block, &at, parameters, at.input, pass->scratch, pass);
    unpack_rows(&block, pass->present, pass->scratch, output);
}

/* One array holds the gradient on its way back through the block: of the output, of the second sum, of
 * normal1 (where the residual connection adds the feed-forward part's gradient), and of sum1. */
static void backward_norm_last(const struct block *block, const struct block_saved *at,
                               const float *parameters, const float *input, float *gradient,
                               float *grad_input, float *grad_parameters, const struct layer_pass *pass) {
    size_t rows = block->feedforward.rows, width = block->width;
    bool wanted = grad_parameters != NULL;
    float *grad_norm1 = wanted ? grad_parameters + block->norm1 : NULL;
    float *grad_norm2 = wanted ? grad_parameters + block->norm2 : NULL;

    layer_norm_backward(parameters + block->norm2, at->second, at->statistics2, gradient, gradient,
                        grad_norm2, wanted ? grad_norm2 + width : NULL, rows, width, pass->kernels);
    feedforward_backward(&block->feedforward, parameters + block->feed, at->normal1, at->feedforward,
                         gradient, pass->scratch, gradient, true,
                         wanted ? grad_parameters + block->feed : NULL, pass->kernels);

    layer_norm_backward(parameters + block->norm1, at->sum1, at->statistics1, gradient, gradient, grad_norm1,
                        wanted ? grad_norm1 + width : NULL, rows, width, pass->kernels);
    multi_head_backward(&block->attention, &block->layout, parameters, input, at->attention, gradient,
                        grad_input, grad_parameters, pass);
    if (grad_input != NULL)
        pass->kernels->add_values(grad_input, gradient, rows * width);
}

/* The residual connections carry `gradient` back unchanged; each part adds its own, by way of its norm. */
static void backward_norm_first(const struct block *block, const struct block_saved *at,
                                const float *parameters, const float *input, float *gradient,
                                float *grad_input, float *grad_parameters, const struct layer_pass *pass) {
    size_t rows = block->feedforward.rows, width = block->width;
    bool wanted = grad_parameters != NULL;
    float *grad_norm1 = wanted ? grad_parameters + block->norm1 : NULL;
    float *grad_norm2 = wanted ? grad_parameters + block->norm2 : NULL;
    float *own = pass->scratch;
    struct layer_pass inner = *pass;
    inner.scratch += block->capacity * width;

    feedforward_backward(&block->feedforward, parameters + block->feed, at->second, at->feedforward, gradient,
                         inner.scratch, own, false, wanted ? grad_parameters + block->feed : NULL,
                         pass->kernels);
    layer_norm_backward(parameters + block->norm2, at->sum1, at->statistics2, own, own, grad_norm2,
                        wanted ? grad_norm2 + width : NULL, rows, width, pass->kernels);
    pass->kernels->add_values(gradient, own, rows * width);

    multi_head_backward(&block->attention, &block->layout, parameters, at->normal1, at->attention, gradient,
                        own, grad_parameters, &inner);
    layer_norm_backward(parameters + block->norm1, input, at->statistics1, own, own, grad_norm1,
                        wanted ? grad_norm1 + width : NULL, rows, width, pass->kernels);
    if (grad_input == NULL)
        return;
    memcpy(grad_input, own, rows * width * sizeof *own);
    pass->kernels->add_values(grad_input, gradient, rows * width);
}

static void backward_rows(const struct block *block, const struct block_saved *at, const float *parameters,
                          const float *input, float *gradient, float *grad_input, float *grad_parameters,
                          const struct layer_pass *pass) {
    if (block->norm == BLOCK_NORM_FIRST)
        backward_norm_first(block, at, parameters, input, gradient, grad_input, grad_parameters, pass);
    else
        backward_norm_last(block, at, parameters, input, gradient, grad_input, grad_parameters, pass);
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)output;
    struct block block = block_of(layer, pass->count);
    struct block_saved at = block_saved_of(&block, saved);
    if (!block.attention.skips_padding || pass->present == NULL) {
        backward_rows(&block, &at, parameters, input, grad_output, grad_input, grad_parameters, pass);
        return;
    }
    size_t size = block.capacity * block.width;
    float *gradient = pass->scratch, *grad_packed = gradient + size;
    struct layer_pass inner = *pass;
    inner.scratch = grad_packed + size;
    block.feedforward.rows = multi_head_row_count(&block.attention, pass);
    pack_rows(&block, pass->present, grad_output, gradient);
    backward_rows(&block, &at, parameters, at.input, gradient, grad_input == NULL ? NULL : grad_packed,
                  grad_parameters, &inner);
    if (grad_input != NULL)
        unpack_rows(&block, pass->present, grad_packed, grad_input);
}

static void write_weights(const struct layer *layer, const float *saved, size_t first, size_t queries,
                          float *weights, const struct layer_pass *pass) {
    struct block block = block_of(layer, pass->count);
    size_t matrices = block.attention.skips_padding ? 4 : 3;
    multi_head_write_weights(&block.attention, saved + block.capacity * (matrices * block.width + 4), pass,
                             first, queries, weights);
}

static void attention(const struct layer *layer, const float *parameters, const float *input,
                      const float *saved, float *weights, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    write_weights(layer, saved, 0, layer->input.steps, weights, pass);
}

static void attention_rows(const struct layer *layer, const float *parameters, const float *input,
                           float *saved, size_t first, size_t queries, float *weights,
                           const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    write_weights(layer, saved, first, queries, weights, pass);
}

const struct layer_type layer_encoder_block = {
    .name = "encoder block",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
    .attention_rows = attention_rows,
};

const struct layer_type layer_torch_encoder_block = {
    .name = "encoder block (packed attention)",
    .output_shape = layer_same_shape,
    .describe = describe,
    .initialise = initialise,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .further_operations = attention_pair_operations,
    .forward = forward,
    .backward = backward,
    .attention = attention,
    .attention_rows = attention_rows,
};
