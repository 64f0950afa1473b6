/* Convolution kernels over lanes: LANES channels of a pixel at a time, each sum in one register. See
 * convolution.h. */
#include "core/pretrained/convolution.h"

#include "core/math/lanes/lanes.h"

#include <stdbool.h>

enum { FILTER = 3 };

static inline lanes bound_relu6(lanes x) {
    return lanes_minimum(lanes_maximum(x, lanes_zero()), lanes_broadcast(6));
}

/* The filter's taps that lie inside the image, in one direction: first <= tap < end. */
struct taps {
    size_t first, end;
};

static inline struct taps find_taps(size_t start, size_t before, size_t extent) {
    size_t first = start < before ? before - start : 0;
    size_t room = extent + before - start;
    return (struct taps){first, room < FILTER ? room : FILTER};
}

/* One output pixel. `row` and `column` are where the first tap would lie. */
static inline void filter_pixel(const float *input, size_t row, size_t column, size_t width, size_t channels,
                                struct taps rows, struct taps columns, const float *weights,
                                const float *bias, float *output) {
    for (size_t c = 0; c < channels; c += LANES) {
        bool whole = c + LANES <= channels;
        lanes_part part = lanes_part_at(c, channels);
        lanes sum = lanes_load_part(bias + c, part);
        for (size_t i = rows.first; i < rows.end; i++)
            for (size_t j = columns.first; j < columns.end; j++) {
                const float *pixel = input + ((row + i) * width + column + j) * channels + c;
                const float *weight = weights + (i * FILTER + j) * channels + c;
                if (whole)
                    sum = lanes_multiply_add(lanes_load(pixel), lanes_load(weight), sum);
                else
                    sum =
                        lanes_multiply_add(lanes_load_part(pixel, part), lanes_load_part(weight, part), sum);
            }
        lanes_store_part(output + c, part, bound_relu6(sum));
    }
}

static void depthwise(const float *input, size_t height, size_t width, size_t channels, size_t stride,
                      const float *weights, const float *bias, float *output) {
    size_t above = convolution_padding_before(height, stride);
    size_t left = convolution_padding_before(width, stride);
    for (size_t y = 0; y < convolution_output_extent(height, stride); y++) {
        struct taps rows = find_taps(y * stride, above, height);
        for (size_t x = 0; x < convolution_output_extent(width, stride); x++, output += channels) {
            struct taps columns = find_taps(x * stride, left, width);
            /* Unsigned wrap-around at the border is undone by adding the first tap. */
            filter_pixel(input, y * stride - above, x * stride - left, width, channels, rows, columns,
                         weights, bias, output);
        }
    }
}

static void add_bias_relu6(float *values, size_t rows, size_t channels, const float *bias) {
    for (size_t i = 0; i < rows; i++, values += channels)
        for (size_t c = 0; c < channels; c += LANES) {
            lanes_part part = lanes_part_at(c, channels);
            lanes sum = lanes_add(lanes_load_part(values + c, part), lanes_load_part(bias + c, part));
            lanes_store_part(values + c, part, bound_relu6(sum));
        }
}

const struct convolution_kernels IN_SET(convolution_kernels) = {
    /* Cached results have this name, which AVX-512 shares because it gives the bits of AVX2. */
    .name = LANES_STRING(LANES_EIGHT_SET),
    .depthwise = depthwise,
    .add_bias_relu6 = add_bias_relu6,
};
