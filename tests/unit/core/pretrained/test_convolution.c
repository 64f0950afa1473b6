/* Convolutions and the resize against PyTorch's, and the AVX2 kernels against the plain ones. */
#include "core/pretrained/convolution.h"

#include "core/math/matrix.h"
#include "core/pretrained/resize.h"
#include "core/random/numpy_random.h"
#include "tests/reference/golden_mobilenet.h"
#include "tests/unit/main.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, TAPS = 9 };

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

/* The padding of TensorFlow's documentation: extent, stride, output, zeros before. */
START_TEST(same_padding_is_tensorflows) {
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
    const struct convolution_kernels *const tables[] = {&convolution_kernels_plain,
                                                        convolution_kernels_choose()};
    for (size_t i = 0; i < 2; i++) {
        tables[i]->depthwise(input, height, width, CHANNELS, stride, weights, bias, output);
        assert_close(output, golden, count, 2e-6);
    }
    free(input);
    free(output);
}

#define GOLDEN(array) array, sizeof(array) / sizeof((array)[0])

START_TEST(depthwise_is_pytorchs) {
    check_depthwise(1, 2, 1, GOLDEN(golden_depthwise_1_2_1));
    check_depthwise(4, 5, 1, GOLDEN(golden_depthwise_4_5_1));
    check_depthwise(4, 5, 2, GOLDEN(golden_depthwise_4_5_2));
    check_depthwise(7, 6, 2, GOLDEN(golden_depthwise_7_6_2));
}
END_TEST

/* All numbers of channels from a part of a vector to several vectors and a part. */
START_TEST(chosen_kernels_agree_with_the_plain_ones) {
    const struct convolution_kernels *chosen = convolution_kernels_choose();
    struct numpy_generator generator;
    numpy_generator_seed(&generator, 1);
    for (size_t channels = 1; channels <= 19; channels++)
        for (size_t stride = 1; stride <= 2; stride++) {
            size_t height = 5 + channels % 2, width = 6, size = height * width * channels;
            float *input = floats(size), *output = floats(size + 1), *expected = floats(size);
            float *weights = floats(TAPS * channels), *bias = floats(channels);
            draw(&generator, input, size);
            draw(&generator, weights, TAPS * channels);
            draw(&generator, bias, channels);
            size_t count = convolution_output_extent(height, stride) *
                           convolution_output_extent(width, stride) * channels;
            convolution_kernels_plain.depthwise(input, height, width, channels, stride, weights, bias,
                                                expected);
            output[count] = 7;
            chosen->depthwise(input, height, width, channels, stride, weights, bias, output);
            assert_close(output, expected, count, 2e-6);
            ck_assert_msg(output[count] == 7, "wrote beyond the end");
            memcpy(output, input, size * sizeof *input);
            convolution_kernels_plain.add_bias_relu6(input, height * width, channels, bias);
            chosen->add_bias_relu6(output, height * width, channels, bias);
            ck_assert_int_eq(memcmp(input, output, size * sizeof *input), 0);
            free(input);
            free(output);
            free(expected);
            free(weights);
            free(bias);
        }
}
END_TEST

START_TEST(relu6_stays_between_0_and_6) {
    const struct convolution_kernels *const tables[] = {&convolution_kernels_plain,
                                                        convolution_kernels_choose()};
    for (size_t i = 0; i < 2; i++) {
        float values[] = {-3, 2, 9, 5};
        const float bias[] = {1, 1, 1, 1};
        tables[i]->add_bias_relu6(values, 1, 4, bias);
        ck_assert(values[0] == 0 && values[1] == 3 && values[2] == 6 && values[3] == 6);
    }
}
END_TEST

/* More pixels than a band holds, with and without what is added. */
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

START_TEST(resize_is_pytorchs) {
    check_resize(5, 7, 12, GOLDEN(golden_resize_5_7_12));
    check_resize(9, 6, 4, GOLDEN(golden_resize_9_6_4));
    check_resize(1, 1, 3, GOLDEN(golden_resize_1_1_3));
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_test(tests, same_padding_is_tensorflows);
    tcase_add_test(tests, depthwise_is_pytorchs);
    tcase_add_test(tests, chosen_kernels_agree_with_the_plain_ones);
    tcase_add_test(tests, relu6_stays_between_0_and_6);
    tcase_add_test(tests, pointwise_adds_bias_and_residual);
    tcase_add_test(tests, patches_hold_zeros_outside_the_image);
    tcase_add_test(tests, resize_is_pytorchs);
}
