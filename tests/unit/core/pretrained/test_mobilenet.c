/* A small network built like MobileNetV2, against PyTorch's; and the checks of the weights. */
#include "core/math/matrix.h"
#include "tests/reference/golden_mobilenet.h"
#include "tests/unit/core/pretrained/random_weights.h"
#include "tests/unit/main.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGES = 3, IMAGE_CHANNELS = 3, OUTPUT_CHANNELS = 24 };

/* As in make_mobilenet_golden.py. */
static const struct mobilenet_stage small_stages[] = {
    {.expansion = 1, .channels = 8, .repeats = 1, .stride = 1},
    {.expansion = 3, .channels = 12, .repeats = 2, .stride = 2},
    {.expansion = 2, .channels = 12, .repeats = 1, .stride = 1},
    {.expansion = 2, .channels = 20, .repeats = 2, .stride = 2}};
static const struct mobilenet_shape small_shape = {
    .stem_channels = 8, .stages = small_stages, .stage_count = 4, .output_channels = OUTPUT_CHANNELS};

static struct numpy_generator generator;
static struct weight_arrays arrays;

static void setup(void) {
    numpy_generator_seed(&generator, 4);
    arrays = random_weights(&small_shape, &generator);
}

static void teardown(void) {
    weight_arrays_free(&arrays);
}

static void embed(const struct mobilenet *network, const struct convolution_kernels *kernels,
                  const float *images, size_t count, size_t size, float *embeddings) {
    float *workspace = malloc(mobilenet_workspace_size(network, count, size) * sizeof *workspace);
    ck_assert_ptr_nonnull(workspace);
    mobilenet_forward(network, kernels, images, count, size, workspace, embeddings);
    free(workspace);
}

static float *draw_images(size_t size) {
    size_t count = IMAGES * size * size * IMAGE_CHANNELS;
    float *images = malloc(count * sizeof *images);
    ck_assert_ptr_nonnull(images);
    for (size_t i = 0; i < count; i++)
        images[i] = (float)numpy_uniform(&generator, -1, 1);
    return images;
}

START_TEST(small_network_matches_pytorch) {
    struct error error = {0};
    struct mobilenet *network = mobilenet_create(&small_shape, &arrays, &error);
    ck_assert_msg(network != NULL, "%s", error.message);
    const struct convolution_kernels *const tables[] = {&convolution_kernels_plain,
                                                        convolution_kernels_choose()};
    const size_t sizes[] = {32, 45};
    const float *const golden[] = {golden_network_32, golden_network_45};
    for (size_t i = 0; i < 2; i++) {
        float *images = draw_images(sizes[i]), embeddings[IMAGES * OUTPUT_CHANNELS];
        for (size_t j = 0; j < 2; j++) {
            embed(network, tables[j], images, IMAGES, sizes[i], embeddings);
            for (size_t k = 0; k < IMAGES * OUTPUT_CHANNELS; k++)
                if (!(fabs((double)embeddings[k] - (double)golden[i][k]) <= 1e-5))
                    ck_abort_msg("size %zu, %s: [%zu] is %.9g, not %.9g", sizes[i], tables[j]->name, k,
                                 (double)embeddings[k], (double)golden[i][k]);
        }
        free(images);
    }
    mobilenet_free(network);
}
END_TEST

START_TEST(an_embedding_does_not_depend_on_the_other_images) {
    struct error error = {0};
    struct mobilenet *network = mobilenet_create(&small_shape, &arrays, &error);
    ck_assert_ptr_nonnull(network);
    float *images = draw_images(32), first[IMAGES * OUTPUT_CHANNELS], second[IMAGES * OUTPUT_CHANNELS];
    const struct convolution_kernels *kernels = convolution_kernels_choose();
    embed(network, kernels, images, IMAGES, 32, first);
    size_t image_size = 32 * 32 * IMAGE_CHANNELS;
    memset(images + image_size, 0, image_size * sizeof *images);
    embed(network, kernels, images, IMAGES, 32, second);
    ck_assert_int_eq(memcmp(first, second, OUTPUT_CHANNELS * sizeof *first), 0);
    ck_assert_int_ne(
        memcmp(first + OUTPUT_CHANNELS, second + OUTPUT_CHANNELS, OUTPUT_CHANNELS * sizeof *first), 0);
    ck_assert_int_eq(
        memcmp(first + 2 * OUTPUT_CHANNELS, second + 2 * OUTPUT_CHANNELS, OUTPUT_CHANNELS * sizeof *first),
        0);
    free(images);
    mobilenet_free(network);
}
END_TEST

START_TEST(the_published_network_has_its_parameters) {
    struct error error = {0};
    struct mobilenet *outline = mobilenet_create_layers(&mobilenet_v2_shape, &error);
    ck_assert_ptr_nonnull(outline);
    ck_assert_uint_eq(outline->parameter_count, 2257984);
    ck_assert_uint_eq(outline->layer_count, 52);
    ck_assert_uint_eq(outline->output_channels, 1280);
    mobilenet_free(outline);
}
END_TEST

static void assert_refused(const char *message) {
    struct error error = {0};
    ck_assert_ptr_null(mobilenet_create(&small_shape, &arrays, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_str_eq(error.message, message);
}

START_TEST(other_arrays_are_refused) {
    size_t count = arrays.count;
    arrays.count = count - 1;
    assert_refused("these are not the weights of this network: it has 95 arrays; the file has 94");
    arrays.count = count;

    arrays.items[0].shape[3] = 9;
    assert_refused("these are not the weights of this network: the array array_0 must be 3 x 3 x 3 x 8; got "
                   "3 x 3 x 3 x 9");
    arrays.items[0].shape[3] = 8;

    arrays.items[7].rank = 0;
    assert_refused(
        "these are not the weights of this network: the array array_7 must be 8; got a single number");
    arrays.items[7].rank = 1;

    float kept = arrays.items[9].values[3];
    arrays.items[9].values[3] = -1;
    assert_refused("the array array_9 has a negative variance");
    arrays.items[9].values[3] = (float)INFINITY;
    assert_refused("the array array_9 has a value that is not a finite number");
    arrays.items[9].values[3] = kept;

    struct error error = {0};
    struct mobilenet *network = mobilenet_create(&small_shape, &arrays, &error);
    ck_assert_ptr_nonnull(network);
    mobilenet_free(network);
}
END_TEST

START_TEST(arrays_have_limits) {
    struct weight_arrays list = {0};
    struct error error = {0};
    size_t shape[WEIGHT_ARRAY_RANK_LIMIT + 1] = {SIZE_MAX / 2, 4, 1, 1, 1};
    ck_assert_ptr_null(weight_arrays_add(&list, "large", shape, 2, &error));
    ck_assert_int_eq(error.code, ERROR_INVALID);
    ck_assert_ptr_null(weight_arrays_add(&list, "deep", shape, WEIGHT_ARRAY_RANK_LIMIT + 1, &error));
    char name[WEIGHT_ARRAY_NAME_SIZE + 1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    shape[0] = 2;
    ck_assert_ptr_null(weight_arrays_add(&list, name, shape, 1, &error));
    name[sizeof name - 2] = '\0';
    ck_assert_ptr_nonnull(weight_arrays_add(&list, name, shape, 2, &error));
    ck_assert_uint_eq(list.items[0].count, 8);
    weight_arrays_free(&list);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, small_network_matches_pytorch);
    tcase_add_test(tests, an_embedding_does_not_depend_on_the_other_images);
    tcase_add_test(tests, the_published_network_has_its_parameters);
    tcase_add_test(tests, other_arrays_are_refused);
    tcase_add_test(tests, arrays_have_limits);
}
