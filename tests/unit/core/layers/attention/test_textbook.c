/* Attention by the textbook, whole and in tiles, against the reference. */
#include "core/layers/attention/reference.h"
#include "core/layers/attention/textbook.h"
#include "core/math/matrix.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/main.h"

enum { WIDTH = 12, EXAMPLES = 3 };

static const size_t lengths[] = {1, 2, 7, 40, 300};

static struct layer_run run_layer(const struct layer_type *type, size_t steps) {
    struct layer_options options = {.heads = 1};
    struct layer layer = layer_make(type, "", (struct layer_shape){steps, WIDTH}, WIDTH, &options);
    struct layer_run run = layer_run_start(layer, EXAMPLES);
    struct torch_generator generator;
    torch_generator_seed(&generator, 11);
    torch_normal(&generator, run.parameters, layer.parameter_count, 0, 0.4);
    torch_normal(&generator, run.input, run.input_count, 0, 2);
    run.pass.kernels = kernels_choose();
    layer_run_forward(&run);
    return run;
}

START_TEST(the_textbook_is_the_reference) {
    const struct layer_type *const types[] = {&layer_textbook_attention, &layer_textbook_tiled_attention};
    struct layer_run expected = run_layer(&layer_reference_pooled_attention, lengths[_i]);
    for (size_t i = 0; i < 2; i++) {
        struct layer_run run = run_layer(types[i], lengths[_i]);
        ck_assert_uint_eq(run.layer.parameter_count, expected.layer.parameter_count);
        layer_check_equal(types[i]->name, run.output, expected.output, run.output_count, 2e-6);
        layer_run_end(&run);
    }
    layer_run_end(&expected);
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_loop_test(tests, the_textbook_is_the_reference, 0, (int)(sizeof lengths / sizeof lengths[0]));
}
