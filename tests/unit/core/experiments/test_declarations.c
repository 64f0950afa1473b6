/* Rules that every parameter declaration of every experiment must follow. */
#include "core/experiments/experiments.h"
#include "tests/unit/main.h"

static bool holds_numbers(const struct parameter_declaration *declaration) {
    return declaration->type == PARAMETER_INTEGER || declaration->type == PARAMETER_REAL ||
           declaration->type == PARAMETER_INTEGER_LIST || declaration->type == PARAMETER_MATRIX;
}

START_TEST(parameters_that_hold_numbers_state_their_cost) {
    for (size_t i = 0; experiment_table[i] != NULL; i++) {
        const struct experiment *experiment = experiment_table[i];
        ck_assert_uint_gt(experiment->parameter_count, 0);
        for (size_t j = 0; j < experiment->parameter_count; j++) {
            const struct parameter_declaration *declaration = &experiment->parameters[j];
            bool is_stated = declaration->cost != PARAMETER_COST_UNSTATED;
            ck_assert_msg(is_stated == holds_numbers(declaration), "%s of %s %s", declaration->name,
                          experiment->name, is_stated ? "holds no numbers" : "states no cost");
        }
    }
}
END_TEST

START_TEST(parameters_with_an_allowance_have_a_limit) {
    for (size_t i = 0; experiment_table[i] != NULL; i++)
        for (size_t j = 0; j < experiment_table[i]->parameter_count; j++) {
            const struct parameter_declaration *declaration = &experiment_table[i]->parameters[j];
            ck_assert_msg(declaration->cost_allowance == 0 || declaration->cost > PARAMETER_COST_NONE,
                          "%s of %s", declaration->name, experiment_table[i]->name);
        }
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, parameters_that_hold_numbers_state_their_cost);
    tcase_add_test(tests, parameters_with_an_allowance_have_a_limit);
}
