/* Convolutions by products and kernels: see convolution.h. */
#include "core/pretrained/convolution.h"

#include "core/math/matrix.h"

#include <string.h>

enum { FILTER = 3 };

/* The pixels whose outputs are finished while they are in the cache; a fixed number, so that bits are fixed.
 */
enum { BAND_PIXELS = 576 };

size_t convolution_output_extent(size_t extent, size_t stride) {
    return (extent + stride - 1) / stride;
}

size_t convolution_padding_before(size_t extent, size_t stride) {
    size_t covered = (convolution_output_extent(extent, stride) - 1) * stride + FILTER;
    return covered > extent ? (covered - extent) / 2 : 0;
}

const struct convolution_kernels *convolution_kernels_choose(void) {
    const enum lane_set chosen = lane_set_chosen();
#define TRY(set, runs)                                                                                       \
    if (chosen == lane_set_##set)                                                                            \
        return &convolution_kernels_##set;
    TRY_FAST_SETS(TRY)
#undef TRY
    return &convolution_kernels_plain;
}

static void add_bias(float *values, size_t rows, size_t channels, const float *bias, const float *residual) {
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < channels; c++) {
            size_t at = i * channels + c;
            values[at] += bias[c] + (residual != NULL ? residual[at] : 0);
        }
}

void convolution_pointwise(const struct convolution_kernels *kernels, const float *input, size_t pixels,
                           size_t in_channels, size_t out_channels, const float *weights, const float *bias,
                           bool relu6, const float *residual, float *output) {
    for (size_t start = 0; start < pixels; start += BAND_PIXELS) {
        size_t rows = pixels - start < BAND_PIXELS ? pixels - start : BAND_PIXELS;
        float *band = output + start * out_channels;
        matrix_multiply(rows, out_channels, in_channels, 1, input + start * in_channels, in_channels, weights,
                        out_channels, 0, band, out_channels);
        if (relu6)
            kernels->add_bias_relu6(band, rows, out_channels, bias);
        else
            add_bias(band, rows, out_channels, bias,
                     residual != NULL ? residual + start * out_channels : NULL);
    }
}

void convolution_gather_patches(const float *input, size_t height, size_t width, size_t channels,
                                size_t stride, float *patches) {
    size_t above = convolution_padding_before(height, stride);
    size_t left = convolution_padding_before(width, stride);
    for (size_t y = 0; y < convolution_output_extent(height, stride); y++)
        for (size_t x = 0; x < convolution_output_extent(width, stride); x++)
            for (size_t tap = 0; tap < FILTER * FILTER; tap++, patches += channels) {
                size_t row = y * stride + tap / FILTER - above, column = x * stride + tap % FILTER - left;
                if (row < height && column < width)
                    memcpy(patches, input + (row * width + column) * channels, channels * sizeof *patches);
                else
                    memset(patches, 0, channels * sizeof *patches);
            }
}
