/* Attention whose weights are nearly or exactly one, by every algorithm and set of kernels, against PyTorch's
 * gradients in double precision: tests/reference/make_saturated_golden.py says how far float32 can agree. */
#include "core/layers/attention/multi_head.h"
#include "core/layers/attention/pooled.h"
#include "core/layers/attention/reference.h"
#include "core/layers/attention/scalar.h"
#include "core/layers/attention/tiled.h"
#include "core/layers/positions/position.h"
#include "core/math/matrix.h"
#include "tests/reference/golden_saturated.h"
#include "tests/unit/core/layers/layer_check.h"
#include "tests/unit/core/math/reference_kernels.h"
#include "tests/unit/main.h"

enum { CASES = sizeof saturated_cases / sizeof *saturated_cases, COUNT = 2, WAYS = 4 };

/* The layers that compute a kind; the three algorithms of a head follow those of the first. */
static const struct layer_type *const layers[][WAYS] = {
    [HEADS] = {&layer_reference_attention, &layer_multi_head_attention},
    [POOLED] = {&layer_reference_pooled_attention, &layer_pooled_attention, &layer_tiled_attention},
    [PLACED] = {&layer_scalar_attention},
    [UNPLACED] = {&layer_unplaced_attention},
};

/* For failure messages. */
static int case_number;
static const char *way_name;

static double bound_of_case(void) {
    return (SATURATED_ROUNDINGS + saturated_cases[case_number].score_size) / 16777216;
}

static void check_values(const char *what, const float *got, const double *expected, size_t count) {
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)got[i] - expected[i]) <= fmax(bound_of_case() * largest, 1e-38)))
            ck_abort_msg("case %d, %s: %s[%zu] of %zu is %.9g, PyTorch's %.9g; the largest is %g",
                         case_number, way_name, what, i, count, (double)got[i], expected[i], largest);
}

/* Where every weight is 0 or 1, no gradient reaches query and key, to the bit: Adam would make a whole step
 * of any noise. */
static void check_run(const struct layer_run *run, size_t query) {
    const double *expected = saturated_values + saturated_cases[case_number].first;
    size_t width = saturated_cases[case_number].width, moved = 0;
    check_values("output", run->output, expected, run->output_count);
    expected += run->output_count;
    check_values("grad_input", run->grad_input, expected, run->input_count);
    expected += run->input_count;
    check_values("grad_parameters", run->grad_parameters, expected, run->layer.parameter_count);
    for (size_t i = query; i < query + 2 * (width * width + width); i++)
        moved += run->grad_parameters[i] != 0;
    if (saturated_cases[case_number].is_certain && moved > 0)
        ck_abort_msg("case %d, %s: %zu gradients of query and key are not 0", case_number, way_name, moved);
}

static struct layer_run start(const struct layer_type *type, const struct kernels *kernels) {
    struct layer_options options = {.heads = saturated_cases[case_number].heads,
                                    .mask = saturated_cases[case_number].is_causal ? ATTENTION_MASK_CAUSAL
                                                                                   : ATTENTION_MASK_NONE};
    bool takes_numbers = type == &layer_scalar_attention || type == &layer_unplaced_attention;
    size_t width = saturated_cases[case_number].width;
    struct layer_shape input = {saturated_cases[case_number].steps, takes_numbers ? 1 : width};
    if (type == &layer_scalar_attention)
        options.position = &position_learned;
    struct layer_run run = layer_run_start(layer_make(type, "", input, width, &options), COUNT);
    struct torch_generator generator;
    run.pass.kernels = kernels;
    torch_generator_seed(&generator, saturated_cases[case_number].seed);
    torch_normal(&generator, run.parameters, run.layer.parameter_count, 0,
                 saturated_cases[case_number].deviation);
    torch_normal(&generator, run.input, run.input_count, 0, saturated_cases[case_number].spread);
    torch_normal(&generator, run.grad_output, run.output_count, 0, 1);
    return run;
}

static void check_layer(const struct layer_type *type, const struct kernels *kernels) {
    struct layer_run run = start(type, kernels);
    size_t width = saturated_cases[case_number].width, projection = width * width + width;
    size_t projections = saturated_cases[case_number].kind == HEADS ? 4 : 3;
    way_name = type->name;
    layer_run_forward(&run);
    layer_run_backward(&run);
    check_run(&run, run.layer.parameter_count - projections * projection);
    layer_run_end(&run);
}

static void check_head_algorithm(enum attention_head_algorithm algorithm, const struct kernels *kernels) {
    static const char *const names[] = {"a head in registers", "a head with its matrix", "a head in tiles"};
    struct layer_run run = start(&layer_multi_head_attention, kernels);
    struct multi_head_shape shape = multi_head_shape_of(&run.layer, COUNT);
    struct multi_head_layout layout = multi_head_layout_separate(shape.width);
    way_name = names[algorithm];
    shape.algorithm = algorithm;
    float *saved = layer_check_floats(multi_head_saved_size(&shape));
    run.pass.scratch = layer_check_floats(multi_head_scratch_size(&shape));
    multi_head_forward(&shape, &layout, run.parameters, run.input, run.output, saved, &run.pass);
    multi_head_backward(&shape, &layout, run.parameters, run.input, saved, run.grad_output, run.grad_input,
                        run.grad_parameters, &run.pass);
    check_run(&run, 0);
    free(saved);
    free(run.pass.scratch);
    layer_run_end(&run);
}

START_TEST(gradients_of_saturated_attention_are_those_of_pytorch) {
    const struct kernels *sets[KERNELS_LISTED];
    size_t count = kernels_list(sets);
    case_number = _i;
    enum saturated_kind kind = saturated_cases[_i].kind;
    for (size_t set = 0; set < count; set++) {
        for (size_t way = 0; way < WAYS && layers[kind][way] != NULL; way++)
            check_layer(layers[kind][way], sets[set]);
        for (int algorithm = HEAD_IN_REGISTERS; kind == HEADS && algorithm <= HEAD_IN_TILES; algorithm++)
            check_head_algorithm((enum attention_head_algorithm)algorithm, sets[set]);
    }
}
END_TEST

static void add_tests(TCase *tests) {
    matrix_use_one_thread();
    tcase_add_loop_test(tests, gradients_of_saturated_attention_are_those_of_pytorch, 0, CASES);
}
