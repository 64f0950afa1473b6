/* The forward pass: see mobilenet.h.
 *
 * The early layers process one image at a time, because one image fills the cache. The late layers process
 * all images together, because a single image's few pixels would make small matrix products. Three buffers
 * take turns: one holds a block's input, which may be added to its output; the block's layers alternate
 * between the other two. */
#include "core/pretrained/mobilenet.h"

#include <string.h>

enum { BUFFERS = 3, IMAGE_CHANNELS = 3, FILTER_TAPS = 9 };

/* The first block whose input has at most this many pixels starts the late layers. */
enum { FEW_PIXELS = 100 };

/* Where the late layers begin, and the size of the early and the late buffers, in floats per image. */
struct plan {
    size_t early_layers;
    size_t early_extent; /* rows and columns of the early layers' output */
    size_t late_extent;  /* rows and columns of the last layer's output */
    size_t early_size, late_size;
};

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static struct plan make_plan(const struct mobilenet *network, size_t size) {
    struct plan plan = {.early_layers = network->layer_count, .early_extent = 0};
    size_t extent = size, input_floats = size * size * IMAGE_CHANNELS;
    for (size_t i = 0; i < network->layer_count; i++) {
        const struct mobilenet_layer *layer = &network->layers[i];
        if (i > 0 && i < plan.early_layers && layer->starts_block && extent * extent <= FEW_PIXELS) {
            plan.early_layers = i;
            plan.early_extent = extent;
            plan.late_size = input_floats;
        }
        extent = convolution_output_extent(extent, layer->stride);
        size_t floats = extent * extent * layer->out_channels;
        if (layer->kind == CONVOLUTION_DENSE)
            plan.early_size = larger(plan.early_size, extent * extent * FILTER_TAPS * layer->in_channels);
        if (i < plan.early_layers)
            plan.early_size = larger(plan.early_size, floats);
        else
            plan.late_size = larger(plan.late_size, floats);
        input_floats = floats;
    }
    if (plan.early_layers == network->layer_count) {
        plan.early_extent = extent;
        plan.late_size = input_floats;
    }
    plan.late_extent = extent;
    return plan;
}

size_t mobilenet_workspace_size(const struct mobilenet *network, size_t count, size_t size) {
    struct plan plan = make_plan(network, size);
    return BUFFERS * (plan.early_size + count * plan.late_size);
}

static void run_layer(const struct mobilenet_layer *layer, const struct convolution_kernels *kernels,
                      const float *input, size_t count, size_t extent, const float *residual, float *patches,
                      float *output) {
    size_t out_extent = convolution_output_extent(extent, layer->stride);
    size_t in_size = extent * extent * layer->in_channels;
    size_t out_size = out_extent * out_extent * layer->out_channels;
    switch (layer->kind) {
    case CONVOLUTION_DENSE:
        for (size_t i = 0; i < count; i++) {
            convolution_gather_patches(input + i * in_size, extent, extent, layer->in_channels, layer->stride,
                                       patches);
            convolution_pointwise(kernels, patches, out_extent * out_extent, FILTER_TAPS * layer->in_channels,
                                  layer->out_channels, layer->weights, layer->bias, layer->relu6, NULL,
                                  output + i * out_size);
        }
        break;
    case CONVOLUTION_DEPTHWISE:
        for (size_t i = 0; i < count; i++)
            kernels->depthwise(input + i * in_size, extent, extent, layer->in_channels, layer->stride,
                               layer->weights, layer->bias, output + i * out_size);
        break;
    case CONVOLUTION_POINTWISE:
        convolution_pointwise(kernels, input, count * extent * extent, layer->in_channels,
                              layer->out_channels, layer->weights, layer->bias, layer->relu6, residual,
                              output);
        break;
    }
}

/* Runs layers[first .. end) over `count` images of `extent` rows and columns; returns the buffer that holds
 * the output. `input` may be one of the buffers. */
static const float *run_layers(const struct mobilenet *network, const struct convolution_kernels *kernels,
                               size_t first, size_t end, const float *input, size_t count, size_t extent,
                               float *const buffers[BUFFERS]) {
    const float *block_input = input;
    for (size_t i = first; i < end; i++) {
        const struct mobilenet_layer *layer = &network->layers[i];
        if (layer->starts_block)
            block_input = input;
        float *unused[BUFFERS] = {NULL};
        size_t unused_count = 0;
        for (size_t j = 0; j < BUFFERS; j++)
            if (buffers[j] != input && buffers[j] != block_input)
                unused[unused_count++] = buffers[j];
        run_layer(layer, kernels, input, count, extent, layer->adds_block_input ? block_input : NULL,
                  unused[1], unused[0]);
        extent = convolution_output_extent(extent, layer->stride);
        input = unused[0];
    }
    return input;
}

static void average_pixels(const float *values, size_t pixels, size_t channels, float *averages) {
    memset(averages, 0, channels * sizeof *averages);
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            averages[c] += values[i * channels + c];
    for (size_t c = 0; c < channels; c++)
        averages[c] /= (float)pixels;
}

void mobilenet_forward(const struct mobilenet *network, const struct convolution_kernels *kernels,
                       const float *images, size_t count, size_t size, float *workspace, float *embeddings) {
    struct plan plan = make_plan(network, size);
    float *early[BUFFERS], *late[BUFFERS];
    for (size_t i = 0; i < BUFFERS; i++) {
        early[i] = workspace + i * plan.early_size;
        late[i] = workspace + BUFFERS * plan.early_size + i * count * plan.late_size;
    }
    size_t image_size = size * size * IMAGE_CHANNELS;
    const struct mobilenet_layer *changeover = &network->layers[plan.early_layers - 1];
    size_t feature_size = plan.early_extent * plan.early_extent * changeover->out_channels;
    for (size_t i = 0; i < count; i++) {
        const float *features =
            run_layers(network, kernels, 0, plan.early_layers, images + i * image_size, 1, size, early);
        memcpy(late[0] + i * feature_size, features, feature_size * sizeof *features);
    }
    const float *features = run_layers(network, kernels, plan.early_layers, network->layer_count, late[0],
                                       count, plan.early_extent, late);
    size_t pixels = plan.late_extent * plan.late_extent;
    for (size_t i = 0; i < count; i++)
        average_pixels(features + i * pixels * network->output_channels, pixels, network->output_channels,
                       embeddings + i * network->output_channels);
}
