/* MobileNetV2 (Sandler et al. 2018) without its classifier, as Keras builds it. It turns an image into the
 * global average of the last feature map.
 *
 * The network is a list of convolutions built from a table like the paper's Table 2: a dense stem, stages of
 * inverted residual blocks (expand pointwise, filter depthwise, project pointwise; the block's input is added
 * if the shapes agree), and a last pointwise one. Inference only; immutable once created, so threads may
 * share it.
 *
 * This folder holds networks that are loaded, not trained. May call math. Called by experiments, and by
 * the server, which reads their files. */
#ifndef ATTNLAB_CORE_PRETRAINED_MOBILENET_H
#define ATTNLAB_CORE_PRETRAINED_MOBILENET_H

#include "core/error.h"
#include "core/pretrained/convolution.h"
#include "core/pretrained/weight_arrays.h"

#include <stdbool.h>
#include <stddef.h>

/* `repeats` blocks of the same width; the first has the given stride, the others stride 1. A block of
 * expansion 1 has no expanding convolution. */
struct mobilenet_stage {
    size_t expansion, channels, repeats, stride;
};

struct mobilenet_shape {
    size_t stem_channels;
    const struct mobilenet_stage *stages;
    size_t stage_count;
    size_t output_channels;
};

/* alpha 1.0: 2,257,984 parameters, 1,280 numbers per image. */
extern const struct mobilenet_shape mobilenet_v2_shape;

enum convolution_kind { CONVOLUTION_DENSE, CONVOLUTION_DEPTHWISE, CONVOLUTION_POINTWISE };

struct mobilenet_layer {
    enum convolution_kind kind;
    size_t in_channels, out_channels, stride;
    bool starts_block;     /* its input is the block's input */
    bool relu6;            /* all but the projections */
    bool adds_block_input; /* a projection whose output has the shape of the block's input */
    float *weights;        /* [3][3][in][out], [3][3][channels] or [in][out], times the batch norm's factor */
    float *bias;           /* [out_channels] */
};

struct mobilenet {
    struct mobilenet_layer *layers;
    size_t layer_count;
    size_t output_channels;
    size_t parameter_count; /* as Keras counts them: kernels, and four numbers per channel for batch norm */
};

/* Takes the arrays in Keras' order: for every convolution its kernel ([h][w][in][out], depthwise
 * [h][w][channels][1]), then its batch norm's gamma, beta, moving mean and moving variance, which are folded
 * into it. NULL on failure; ERROR_INVALID if a shape or the number of arrays is not the network's, with the
 * array's name in the message. */
struct mobilenet *mobilenet_create(const struct mobilenet_shape *shape, const struct weight_arrays *arrays,
                                   struct error *error);
void mobilenet_free(struct mobilenet *network);

/* The layers without weights, for counting parameters or making up arrays. NULL with ERROR_MEMORY. */
struct mobilenet *mobilenet_create_layers(const struct mobilenet_shape *shape, struct error *error);

/* The number of floats of workspace that a forward pass over `count` images of [size][size][3] needs. */
size_t mobilenet_workspace_size(const struct mobilenet *network, size_t count, size_t size);

/* Computes embeddings[count][output_channels] of images[count][size][size][3] with values in [-1, 1]. The
 * bits of an image's embedding depend only on the image, `count` and `size`. */
void mobilenet_forward(const struct mobilenet *network, const struct convolution_kernels *kernels,
                       const float *images, size_t count, size_t size, float *workspace, float *embeddings);

#endif
