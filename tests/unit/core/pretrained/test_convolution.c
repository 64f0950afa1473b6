/* Convolutions and the resize against PyTorch's, and the kernels of every set of lanes against plain loops.
 */
#include "core/pretrained/convolution.h"

#include "core/math/matrix.h"
#include "core/pretrained/resize.h"
#include "core/random/numpy_random.h"
#include "tests/reference/golden_mobilenet.h"
#include "tests/unit/main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, SIDE = 3, TAPS = SIDE * SIDE };

/* The kernels, written like their formulas. */
static void reference_depthwise(const float *input, size_t height, size_t width, size_t channels,
                                size_t stride, const float *weights, const float *bias, float *output) {
    size_t above = convolution_padding_before(height, stride);
    size_t left = convolution_padding_before(width, stride);
    for (size_t y = 0; y < convolution_output_extent(height, stride); y++)
        for (size_t x = 0; x < convolution_output_extent(width, stride); x++, output += channels) {
            memcpy(output, bias, channels * sizeof *output);
            for (size_t tap = 0; tap < TAPS; tap++) {
                /* Unsigned: a position above or left of the image becomes a huge number. */
                size_t row = y * stride + tap / SIDE - above, column = x * stride + tap % SIDE - left;
                if (row >= height || column >= width)
                    continue;
                const float *pixel = input + (row * width + column) * channels;
                for (size_t c = 0; c < channels; c++)
                    output[c] += pixel[c] * weights[tap * channels + c];
            }
            for (size_t c = 0; c < channels; c++)
                output[c] = fminf(fmaxf(output[c], 0), 6);
        }
}

static void reference_add_bias_relu6(float *values, size_t rows, size_t channels, const float *bias) {
    for (size_t i = 0; i < rows; i++, values += channels)
        for (size_t c = 0; c < channels; c++)
            values[c] = fminf(fmaxf(values[c] + bias[c], 0), 6);
}

static const struct convolution_kernels reference = {
    .name = "reference",
    .depthwise = reference_depthwise,
    .add_bias_relu6 = reference_add_bias_relu6,
};

/* The reference and the tables that this processor runs. */
static size_t list_tables(const struct convolution_kernels *tables[5]) {
    size_t count = 0;
    tables[count++] = &reference;
#define TRY(set, runs)                                                                                       \
    if (runs)                                                                                                \
        tables[count++] = &convolution_kernels_##set;
    TRY_SETS(TRY)
#undef TRY
    return count;
}

static void draw(struct numpy_generator *generator, float *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        values[i] = (float)numpy_standard_normal(generator);
}

static float *floats(size_t count) {
    float *values = calloc(count, sizeof *values);
    ck_assert_ptr_nonnull(values);
    return values;
}

static void assert_close(const float *values, const float *expected, size_t count, double tolerance) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)values[i] - (double)expected[i]) <= tolerance))
            ck_abort_msg("[%zu] is %.9g, not %.9g", i, (double)values[i], (double)expected[i]);
}

/* The padding in TensorFlow's documentation: extent, stride, output, zeros before the first element. */
START_TEST(same_padding_matches_tensorflow) {
    static const size_t cases[][4] = {{1, 1, 1, 1}, {2, 1, 2, 1}, {7, 1, 7, 1},   {1, 2, 1, 1},
                                      {2, 2, 1, 0}, {3, 2, 2, 1}, {96, 2, 48, 0}, {49, 2, 25, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ck_assert_uint_eq(convolution_output_extent(cases[i][0], cases[i][1]), cases[i][2]);
        ck_assert_uint_eq(convolution_padding_before(cases[i][0], cases[i][1]), cases[i][3]);
    }
}
END_TEST

static void check_depthwise(size_t height, size_t width, size_t stride, const float *golden, size_t count) {
    struct numpy_generator generator;
    numpy_generator_seed(&generator, 10 * height + stride);
    float *input = floats(height * width * CHANNELS), *output = floats(count);
    float weights[TAPS * CHANNELS], bias[CHANNELS];
    draw(&generator, input, height * width * CHANNELS);
    draw(&generator, weights, TAPS * CHANNELS);
    draw(&generator, bias, CHANNELS);
    ck_assert_uint_eq(convolution_output_extent(height, stride) * convolution_output_extent(width, stride) *
                          CHANNELS,
                      count);
    const struct convolution_kernels *tables[5];
    size_t table_count = list_tables(tables);
    for (size_t i = 0; i < table_count; i++) {
        tables[i]->depthwise(input, height, width, CHANNELS, stride, weights, bias, output);
        assert_close(output, golden, count, 2e-6);
    }
    free(input);
    free(output);
}

#define GOLDEN(array) array, sizeof(array) / sizeof((array)[0])

START_TEST(depthwise_matches_pytorch) {
    check_depthwise(1, 2, 1, GOLDEN(golden_depthwise_1_2_1));
    check_depthwise(4, 5, 1, GOLDEN(golden_depthwise_4_5_1));
    check_depthwise(4, 5, 2, GOLDEN(golden_depthwise_4_5_2));
    check_depthwise(7, 6, 2, GOLDEN(golden_depthwise_7_6_2));
}
END_TEST

static void compare_with_reference(const struct convolution_kernels *kernels, size_t channels,
                                   size_t stride) {
    struct numpy_generator generator;
    numpy_generator_seed(&generator, (uint32_t)channels);
    size_t height = 5 + channels % 2, width = 6, size = height * width * channels;
    float *input = floats(size), *output = floats(size + 1), *expected = floats(size);
    float *weights = floats(TAPS * channels), *bias = floats(channels);
    draw(&generator, input, size);
    draw(&generator, weights, TAPS * channels);
    draw(&generator, bias, channels);
    size_t count =
        convolution_output_extent(height, stride) * convolution_output_extent(width, stride) * channels;
    reference.depthwise(input, height, width, channels, stride, weights, bias, expected);
    output[count] = 7;
    kernels->depthwise(input, height, width, channels, stride, weights, bias, output);
    assert_close(output, expected, count, 2e-6);
    ck_assert_msg(output[count] == 7, "wrote beyond the end");
    memcpy(output, input, size * sizeof *input);
    reference.add_bias_relu6(input, height * width, channels, bias);
    kernels->add_bias_relu6(output, height * width, channels, bias);
    ck_assert_int_eq(memcmp(input, output, size * sizeof *input), 0);
    free(input);
    free(output);
    free(expected);
    free(weights);
    free(bias);
}

/* Every number of channels from part of one vector to several vectors and a part. */
START_TEST(every_set_agrees_with_the_reference) {
    const struct convolution_kernels *tables[5];
    size_t count = list_tables(tables);
    for (size_t i = 1; i < count; i++)
        for (size_t stride = 1; stride <= 2; stride++)
            compare_with_reference(tables[i], (size_t)_i, stride);
}
END_TEST

START_TEST(relu6_stays_between_0_and_6) {
    const struct convolution_kernels *tables[5];
    size_t table_count = list_tables(tables);
    for (size_t i = 0; i < table_count; i++) {
        float values[] = {-3, 2, 9, 5};
        const float bias[] = {1, 1, 1, 1};
        tables[i]->add_bias_relu6(values, 1, 4, bias);
        ck_assert(values[0] == 0 && values[1] == 3 && values[2] == 6 && values[3] == 6);
    }
}
END_TEST

/* More pixels than fit in a band, with and without a residual. */
START_TEST(pointwise_adds_bias_and_residual) {
    enum { PIXELS = 600, IN = 2, OUT = 2 };
    const float weights[IN * OUT] = {1, 2, 3, 4}, bias[OUT] = {10, -20};
    float *input = floats(PIXELS * IN), *residual = floats(PIXELS * OUT), *output = floats(PIXELS * OUT);
    for (size_t i = 0; i < PIXELS * IN; i++) {
        input[i] = (float)(i % 5);
        residual[i] = (float)(i % 7);
    }
    for (int with = 0; with < 2; with++) {
        convolution_pointwise(&convolution_kernels_plain, input, PIXELS, IN, OUT, weights, bias, false,
                              with ? residual : NULL, output);
        for (size_t i = 0; i < PIXELS; i++)
            for (size_t j = 0; j < OUT; j++)
                ck_assert_msg(output[i * OUT + j] == input[i * IN] * weights[j] +
                                                         input[i * IN + 1] * weights[OUT + j] + bias[j] +
                                                         (with ? residual[i * OUT + j] : 0),
                              "pixel %zu", i);
    }
    free(input);
    free(residual);
    free(output);
}
END_TEST

START_TEST(patches_hold_zeros_outside_the_image) {
    const float input[] = {1, 2, 3, 4};
    float patches[TAPS];
    convolution_gather_patches(input, 2, 2, 1, 2, patches);
    const float even[TAPS] = {1, 2, 0, 3, 4, 0, 0, 0, 0};
    ck_assert_int_eq(memcmp(patches, even, sizeof even), 0);
    convolution_gather_patches(input, 1, 1, 1, 2, patches);
    const float odd[TAPS] = {0, 0, 0, 0, 1, 0, 0, 0, 0};
    ck_assert_int_eq(memcmp(patches, odd, sizeof odd), 0);
}
END_TEST

static void check_resize(size_t rows, size_t columns, size_t size, const float *golden, size_t count) {
    struct numpy_generator generator;
    numpy_generator_seed(&generator, rows);
    int64_t drawn[64];
    uint8_t pixels[64];
    numpy_integers(&generator, drawn, rows * columns, 0, 256);
    for (size_t i = 0; i < rows * columns; i++)
        pixels[i] = (uint8_t)drawn[i];
    ck_assert_uint_eq(count, size * size);
    float *output = floats(count * RESIZE_CHANNELS);
    resize_grey_image(pixels, rows, columns, size, output);
    for (size_t i = 0; i < count; i++)
        for (size_t channel = 0; channel < RESIZE_CHANNELS; channel++)
            assert_close(&output[i * RESIZE_CHANNELS + channel], &golden[i], 1, 1e-6);
    free(output);
}

START_TEST(resize_matches_pytorch) {
    check_resize(5, 7, 12, GOLDEN(golden_resize_5_7_12));
    check_resize(9, 6, 4, GOLDEN(golden_resize_9_6_4));
    check_resize(1, 1, 3, GOLDEN(golden_resize_1_1_3));
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_test(tests, same_padding_matches_tensorflow);
    tcase_add_test(tests, depthwise_matches_pytorch);
    tcase_add_loop_test(tests, every_set_agrees_with_the_reference, 1, 36);
    tcase_add_test(tests, relu6_stays_between_0_and_6);
    tcase_add_test(tests, pointwise_adds_bias_and_residual);
    tcase_add_test(tests, patches_hold_zeros_outside_the_image);
    tcase_add_test(tests, resize_matches_pytorch);
}
