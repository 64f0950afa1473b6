/* The convolutions of MobileNetV2, over images stored [height][width][channels] as TensorFlow does.
 *
 * A pointwise (1 x 1) convolution is a matrix product over all pixels. A dense 3 x 3 one becomes a product
 * once its patches are laid out in rows. A depthwise 3 x 3 one filters every channel separately and has its
 * own kernel for every set of lanes. Batch norm has been folded into weights and bias. */
#ifndef ATTNLAB_CORE_PRETRAINED_CONVOLUTION_H
#define ATTNLAB_CORE_PRETRAINED_CONVOLUTION_H

#include "core/math/lanes/sets.h"

#include <stdbool.h>
#include <stddef.h>

/* 3 x 3 filters with TensorFlow's SAME padding: the output has ceil(extent / stride) rows, and the smaller
 * half of the necessary padding comes first. (Keras' correct_pad gives the same numbers for stride 2.) */
size_t convolution_output_extent(size_t extent, size_t stride);
size_t convolution_padding_before(size_t extent, size_t stride);

struct convolution_kernels {
    const char *name;

    /* output[out_height][out_width][channels] = ReLU6(bias + sum over the filter's taps).
     * weights[3][3][channels], bias[channels]. */
    void (*depthwise)(const float *input, size_t height, size_t width, size_t channels, size_t stride,
                      const float *weights, const float *bias, float *output);

    /* values[rows][channels] += bias, then ReLU6: between 0 and 6. */
    void (*add_bias_relu6)(float *values, size_t rows, size_t channels, const float *bias);
};

/* Returns the fastest kernels that this processor can run. */
const struct convolution_kernels *convolution_kernels_choose(void);

#define DECLARE_CONVOLUTION_KERNELS(set) extern const struct convolution_kernels convolution_kernels_##set;
FOR_EVERY_SET(DECLARE_CONVOLUTION_KERNELS)

/* output[pixels][out_channels] = input[pixels][in_channels] weights + bias, then ReLU6 if `relu6` is true,
 * otherwise plus residual[pixels][out_channels] unless it is NULL. weights[in_channels][out_channels]. */
void convolution_pointwise(const struct convolution_kernels *kernels, const float *input, size_t pixels,
                           size_t in_channels, size_t out_channels, const float *weights, const float *bias,
                           bool relu6, const float *residual, float *output);

/* Copies the filter's input at every output pixel to patches[out_height * out_width][3 * 3 * channels], with
 * zeros outside the image. On them a dense 3 x 3 convolution, weights[3][3][channels][out_channels], is a
 * pointwise one. */
void convolution_gather_patches(const float *input, size_t height, size_t width, size_t channels,
                                size_t stride, float *patches);

#endif
