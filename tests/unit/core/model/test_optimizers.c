/* The optimisers against PyTorch's, step by step on the same gradients, with every set of lanes. */
#include "core/model/optimizers.h"
#include "tests/reference/golden_optimizers.h"
#include "tests/unit/core/math/reference_kernels.h"
#include "tests/unit/main.h"

#include <math.h>
#include <string.h>

enum { CASES = sizeof golden_optimizers / sizeof golden_optimizers[0] };

/* The bits must be PyTorch's, except that Adam keeps a second moment that is rounded once more. */
static void check_numbers(const float *got, const float *expected, enum optimizer_kind kind, size_t step) {
    for (size_t i = 0; i < GOLDEN_NUMBERS; i++) {
        double allowed = kind == OPTIMIZER_ADAM ? 2e-7 * fmax(fabs((double)expected[i]), 0.1) : 0;
        if (!(fabs((double)got[i] - (double)expected[i]) <= allowed))
            ck_abort_msg("step %zu, number %zu: %.9g, PyTorch %.9g", step, i, (double)got[i],
                         (double)expected[i]);
    }
}

START_TEST(steps_are_those_of_pytorch) {
    const struct kernels *tables[KERNELS_LISTED];
    size_t count = kernels_list(tables);
    struct optimizer_settings settings = {golden_optimizers[_i].kind, golden_rate,
                                          golden_optimizers[_i].momentum, golden_optimizers[_i].weight_decay};
    for (size_t table = 0; table < count; table++) {
        float parameters[GOLDEN_NUMBERS], first[GOLDEN_NUMBERS] = {0}, second[GOLDEN_NUMBERS] = {0};
        memcpy(parameters, golden_before, sizeof parameters);
        for (size_t step = 0; step < GOLDEN_STEPS; step++) {
            struct step_factors factors = optimizer_factors_at(&settings, step + 1);
            tables[table]->optimizer_steps[settings.kind](parameters, golden_gradients[step], 1,
                                                          GOLDEN_NUMBERS, first, second, GOLDEN_NUMBERS,
                                                          &factors);
            check_numbers(parameters, golden_optimizers[_i].after[step], settings.kind, step);
        }
    }
}
END_TEST

START_TEST(every_optimizer_has_a_name_and_is_found_by_it) {
    for (int kind = 0; kind < OPTIMIZER_COUNT; kind++)
        ck_assert_int_eq(optimizer_find(optimizer_names[kind]), kind);
    ck_assert_ptr_null(optimizer_names[OPTIMIZER_COUNT]);
    ck_assert_int_eq(optimizer_find("nothing-such"), OPTIMIZER_ADAM);
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_loop_test(tests, steps_are_those_of_pytorch, 0, CASES);
    tcase_add_test(tests, every_optimizer_has_a_name_and_is_found_by_it);
}
