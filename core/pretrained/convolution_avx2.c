/* Convolution kernels for AVX2: eight channels of a pixel at once, each sum in one register. */
#include "core/pretrained/convolution.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <stdbool.h>

enum { LANES = 8, FILTER = 3 };

static inline __m256 bound_relu6(__m256 x) {
    return _mm256_min_ps(_mm256_max_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(6));
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
        __m256i lanes = vector_first_lanes(whole ? LANES : (int)(channels - c));
        __m256 sum = _mm256_maskload_ps(bias + c, lanes);
        for (size_t i = rows.first; i < rows.end; i++)
            for (size_t j = columns.first; j < columns.end; j++) {
                const float *pixel = input + ((row + i) * width + column + j) * channels + c;
                const float *weight = weights + (i * FILTER + j) * channels + c;
                if (whole)
                    sum = _mm256_fmadd_ps(_mm256_loadu_ps(pixel), _mm256_loadu_ps(weight), sum);
                else
                    sum = _mm256_fmadd_ps(_mm256_maskload_ps(pixel, lanes), _mm256_maskload_ps(weight, lanes),
                                          sum);
            }
        _mm256_maskstore_ps(output + c, lanes, bound_relu6(sum));
    }
}

static void depthwise_avx2(const float *input, size_t height, size_t width, size_t channels, size_t stride,
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

static void add_bias_relu6_avx2(float *values, size_t rows, size_t channels, const float *bias) {
    for (size_t i = 0; i < rows; i++, values += channels)
        for (size_t c = 0; c < channels; c += LANES) {
            __m256i lanes = vector_first_lanes(channels - c < LANES ? (int)(channels - c) : LANES);
            __m256 sum =
                _mm256_add_ps(_mm256_maskload_ps(values + c, lanes), _mm256_maskload_ps(bias + c, lanes));
            _mm256_maskstore_ps(values + c, lanes, bound_relu6(sum));
        }
}

const struct convolution_kernels convolution_kernels_avx2 = {
    .name = "avx2",
    .depthwise = depthwise_avx2,
    .add_bias_relu6 = add_bias_relu6_avx2,
};

#endif
