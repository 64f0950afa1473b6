/* Makes a network from Keras' arrays: builds the list of convolutions, checks every array's shape against it,
 * and folds each batch norm (inference: y = gamma (x - mean) / sqrt(variance + epsilon) + beta) into the
 * convolution before it. */
#include "core/pretrained/mobilenet.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The epsilon of the BatchNormalization layers in Keras' MobileNetV2. */
static const double batch_norm_epsilon = 1e-3;

enum { FILTER = 3, IMAGE_CHANNELS = 3, BATCH_NORM_ARRAYS = 4, LAYERS_PER_BLOCK = 3, SHAPE_TEXT_SIZE = 64 };

static const struct mobilenet_stage stages[] = {
    {.expansion = 1, .channels = 16, .repeats = 1, .stride = 1},
    {.expansion = 6, .channels = 24, .repeats = 2, .stride = 2},
    {.expansion = 6, .channels = 32, .repeats = 3, .stride = 2},
    {.expansion = 6, .channels = 64, .repeats = 4, .stride = 2},
    {.expansion = 6, .channels = 96, .repeats = 3, .stride = 1},
    {.expansion = 6, .channels = 160, .repeats = 3, .stride = 2},
    {.expansion = 6, .channels = 320, .repeats = 1, .stride = 1},
};

const struct mobilenet_shape mobilenet_v2_shape = {
    .stem_channels = 32,
    .stages = stages,
    .stage_count = sizeof stages / sizeof stages[0],
    .output_channels = 1280,
};

static size_t kernel_size(const struct mobilenet_layer *layer) {
    switch (layer->kind) {
    case CONVOLUTION_DENSE:
        return FILTER * FILTER * layer->in_channels * layer->out_channels;
    case CONVOLUTION_DEPTHWISE:
        return FILTER * FILTER * layer->in_channels;
    case CONVOLUTION_POINTWISE:
        return layer->in_channels * layer->out_channels;
    }
    return 0;
}

static struct mobilenet_layer *add_layer(struct mobilenet *network, enum convolution_kind kind,
                                         size_t in_channels, size_t out_channels, size_t stride) {
    struct mobilenet_layer *layer = &network->layers[network->layer_count++];
    *layer = (struct mobilenet_layer){.kind = kind,
                                      .in_channels = in_channels,
                                      .out_channels = out_channels,
                                      .stride = stride,
                                      .relu6 = true};
    network->parameter_count += kernel_size(layer) + BATCH_NORM_ARRAYS * out_channels;
    return layer;
}

static void add_block(struct mobilenet *network, size_t in_channels, size_t expansion, size_t out_channels,
                      size_t stride) {
    size_t wide = in_channels * expansion, first = network->layer_count;
    if (expansion > 1)
        add_layer(network, CONVOLUTION_POINTWISE, in_channels, wide, 1);
    add_layer(network, CONVOLUTION_DEPTHWISE, wide, wide, stride);
    struct mobilenet_layer *project = add_layer(network, CONVOLUTION_POINTWISE, wide, out_channels, 1);
    project->relu6 = false;
    project->adds_block_input = stride == 1 && in_channels == out_channels;
    network->layers[first].starts_block = true;
}

struct mobilenet *mobilenet_create_layers(const struct mobilenet_shape *shape, struct error *error) {
    size_t blocks = 0;
    for (size_t i = 0; i < shape->stage_count; i++)
        blocks += shape->stages[i].repeats;
    size_t bytes = (2 + LAYERS_PER_BLOCK * blocks) * sizeof(struct mobilenet_layer);
    struct mobilenet *network = calloc(1, sizeof *network);
    if (network != NULL)
        network->layers = malloc(bytes);
    if (network == NULL || network->layers == NULL) {
        error_set_memory(error, bytes);
        mobilenet_free(network);
        return NULL;
    }
    network->output_channels = shape->output_channels;
    size_t channels = shape->stem_channels;
    add_layer(network, CONVOLUTION_DENSE, IMAGE_CHANNELS, channels, 2)->starts_block = true;
    for (size_t i = 0; i < shape->stage_count; i++)
        for (size_t j = 0; j < shape->stages[i].repeats; j++) {
            const struct mobilenet_stage *stage = &shape->stages[i];
            add_block(network, channels, stage->expansion, stage->channels, j == 0 ? stage->stride : 1);
            channels = stage->channels;
        }
    add_layer(network, CONVOLUTION_POINTWISE, channels, shape->output_channels, 1)->starts_block = true;
    return network;
}

void mobilenet_free(struct mobilenet *network) {
    if (network == NULL)
        return;
    for (size_t i = 0; i < network->layer_count; i++) {
        free(network->layers[i].weights);
        free(network->layers[i].bias);
    }
    free(network->layers);
    free(network);
}

static const char *shape_text(const size_t *shape, size_t rank, char text[SHAPE_TEXT_SIZE]) {
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < rank && length < SHAPE_TEXT_SIZE; i++) {
        int written =
            snprintf(text + length, SHAPE_TEXT_SIZE - length, "%s%zu", i > 0 ? " x " : "", shape[i]);
        length += written > 0 ? (size_t)written : 0;
    }
    return rank > 0 ? text : "a single number";
}

static bool check_array(const struct weight_array *array, const size_t *shape, size_t rank,
                        struct error *error) {
    bool fits = array->rank == rank;
    for (size_t i = 0; i < rank && fits; i++)
        fits = array->shape[i] == shape[i];
    if (!fits) {
        char wanted[SHAPE_TEXT_SIZE], found[SHAPE_TEXT_SIZE];
        return error_set(error, ERROR_INVALID,
                         "these are not the weights of this network: the array %s must be %s; got %s",
                         array->name, shape_text(shape, rank, wanted),
                         shape_text(array->shape, array->rank, found));
    }
    for (size_t i = 0; i < array->count; i++)
        if (!isfinite(array->values[i]))
            return error_set(error, ERROR_INVALID, "the array %s has a value that is not a finite number",
                             array->name);
    return true;
}

/* Checks the kernel's array, then the batch norm's. */
static bool check_layer(const struct mobilenet_layer *layer, const struct weight_array *arrays,
                        struct error *error) {
    size_t filter = layer->kind == CONVOLUTION_POINTWISE ? 1 : FILTER;
    size_t shape[] = {filter, filter, layer->in_channels,
                      layer->kind == CONVOLUTION_DEPTHWISE ? 1 : layer->out_channels};
    if (!check_array(&arrays[0], shape, sizeof shape / sizeof shape[0], error))
        return false;
    for (size_t i = 1; i <= BATCH_NORM_ARRAYS; i++)
        if (!check_array(&arrays[i], &layer->out_channels, 1, error))
            return false;
    const struct weight_array *variance = &arrays[BATCH_NORM_ARRAYS];
    for (size_t i = 0; i < variance->count; i++)
        if (variance->values[i] < 0)
            return error_set(error, ERROR_INVALID, "the array %s has a negative variance", variance->name);
    return true;
}

/* The output channel is the last index of every kernel in the file. */
static bool fold_layer(struct mobilenet_layer *layer, const struct weight_array *arrays,
                       struct error *error) {
    size_t channels = layer->out_channels, size = kernel_size(layer);
    layer->weights = malloc(size * sizeof(float));
    layer->bias = malloc(channels * sizeof(float));
    if (layer->weights == NULL || layer->bias == NULL)
        return error_set_memory(error, size * sizeof(float));
    const float *gamma = arrays[1].values, *beta = arrays[2].values, *mean = arrays[3].values,
                *variance = arrays[4].values;
    for (size_t c = 0; c < channels; c++) {
        double factor = (double)gamma[c] / sqrt((double)variance[c] + batch_norm_epsilon);
        layer->bias[c] = (float)((double)beta[c] - (double)mean[c] * factor);
        for (size_t i = c; i < size; i += channels)
            layer->weights[i] = (float)((double)arrays[0].values[i] * factor);
    }
    return true;
}

struct mobilenet *mobilenet_create(const struct mobilenet_shape *shape, const struct weight_arrays *arrays,
                                   struct error *error) {
    struct mobilenet *network = mobilenet_create_layers(shape, error);
    if (network == NULL)
        return NULL;
    size_t expected = (1 + BATCH_NORM_ARRAYS) * network->layer_count;
    bool fits = arrays->count == expected ||
                error_set(error, ERROR_INVALID,
                          "these are not the weights of this network: it has %zu arrays; the file has %zu",
                          expected, arrays->count);
    for (size_t i = 0; i < network->layer_count && fits; i++) {
        const struct weight_array *own = &arrays->items[(1 + BATCH_NORM_ARRAYS) * i];
        fits = check_layer(&network->layers[i], own, error) && fold_layer(&network->layers[i], own, error);
    }
    if (fits)
        return network;
    mobilenet_free(network);
    return NULL;
}
