/* running-average and scaling against PyTorch; the experiments' table. */
#include "tests/reference/golden_experiment.h"
#include "tests/unit/core/experiments/run_experiment.h"
#include "tests/unit/main.h"

#include <stdio.h>

static struct result_tree tree;

static void teardown(void) {
    result_tree_free(&tree);
}

START_TEST(three_ways_give_one_average) {
    run_experiment(&experiment_running_average, NULL, &tree);
    assert_equal(&tree, "x", GOLDEN(golden_average_x));
    assert_near(&tree, "loop", GOLDEN(golden_average_loop), 1e-6);
    assert_near(&tree, "matrix", GOLDEN(golden_average_loop), 1e-6);
    assert_near(&tree, "softmax", GOLDEN(golden_average_loop), 1e-6);
    assert_near(&tree, "weights", GOLDEN(golden_average_weights), 1e-6);
    assert_near(&tree, "averaging", GOLDEN(golden_average_weights), 1e-6);
    ck_assert_double_lt(result_tree_value(&tree, "max_difference"), 1e-6);
    ck_assert(result_tree_value(&tree, "triangle.3.3") == 1);
    ck_assert(result_tree_value(&tree, "triangle.3.4") == 0);
    ck_assert_int_eq(result_tree_get(&tree, "masked.3.4")->kind, RESULT_NULL);
    /* The four digits that the notebook prints. */
    ck_assert_double_eq_tol(result_tree_value(&tree, "loop.1.7.0"), 0.2527, 5e-5);
}
END_TEST

START_TEST(averages_of_one_token_and_of_too_many) {
    run_experiment(&experiment_running_average, SETTINGS("tokens", "1", "batch", "1", "channels", "1"),
                   &tree);
    ck_assert(result_tree_value(&tree, "loop.0.0.0") == result_tree_value(&tree, "x.0.0.0"));
    assert_rejected(&experiment_running_average, SETTINGS("tokens", "256", "channels", "256"), "tokens",
                    "times batch and channels must be at most 65536 numbers; got 262144");
}
END_TEST

START_TEST(scaling_matches_pytorch) {
    run_experiment(&experiment_scaling, NULL, &tree);
    ck_assert_uint_eq(result_tree_length(&tree, "rows"), 5);
    for (size_t i = 0; i < 5; i++) {
        const char *const names[] = {"std", "std_over_sqrt", "max_weight", "max_weight_scaled"};
        for (size_t j = 0; j < 4; j++) {
            char path[64];
            snprintf(path, sizeof path, "rows.%zu.%s", i, names[j]);
            assert_near(&tree, path, &golden_scaling[4 * i + j], 1, 1e-5);
        }
    }
    ck_assert(result_tree_value(&tree, "rows.4.d_k") == 1024);
    ck_assert_uint_eq(result_tree_length(&tree, "rows.0.weights"), 64);
}
END_TEST

START_TEST(a_saturated_softmax_has_little_gradient) {
    run_experiment(&experiment_scaling, SETTINGS("dimensions", "1024", "keys", "8"), &tree);
    double weights[8], trace = 0;
    ck_assert_uint_eq(result_tree_numbers(&tree, "rows.0.weights", 0, weights, 8), 8);
    for (size_t i = 0; i < 8; i++)
        trace += weights[i] * (1 - weights[i]);
    ck_assert_double_eq_tol(result_tree_value(&tree, "rows.0.gradient"), trace, 1e-6);
    ck_assert_double_gt(result_tree_value(&tree, "rows.0.gradient_scaled"),
                        result_tree_value(&tree, "rows.0.gradient"));
}
END_TEST

START_TEST(scaling_refuses_sizes_that_do_not_fit_and_can_be_cancelled) {
    assert_rejected(&experiment_scaling, SETTINGS("dimensions", "65536", "samples", "1000"), "samples",
                    "times the largest dimension must be at most 16777216 numbers; got 65536000");
    assert_rejected(&experiment_scaling, SETTINGS("dimensions", "4,0"), "dimensions",
                    "member 2 must be at least 1 and at most 65536; got 0");
    assert_cancelled(&experiment_scaling, NULL);
}
END_TEST

static void count_progress(void *owner, size_t done, size_t total, const char *unit) {
    size_t *calls = owner;
    *calls += 1;
    ck_assert_uint_eq(done, *calls);
    ck_assert_uint_eq(total, 2);
    ck_assert_str_eq(unit, "dimensions");
}

START_TEST(progress_and_cancelling_reach_the_context) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    size_t calls = 0;
    prepare_experiment(&experiment_scaling, SETTINGS("dimensions", "4,8", "samples", "10"), &set, &faults);
    struct experiment_context context = test_context(&set, &tree);
    context.host.listener = (struct run_listener){.owner = &calls, .progress = count_progress};
    ck_assert(experiment_scaling.run(&context, NULL));
    ck_assert_uint_eq(calls, 2);
    ck_assert(!experiment_is_cancelled(&context));
    context.host.stop.is_requested = test_always_cancelled;
    ck_assert(experiment_is_cancelled(&context));
    parameter_set_free(&set);
}
END_TEST

START_TEST(all_faults_are_reported_at_once) {
    struct parameter_set set;
    struct parameter_faults faults = {0};
    prepare_experiment(
        &experiment_attention_steps,
        SETTINGS("preset", "given", "q", "[[1,2]]", "k", "[[1]]", "v", "[[1],[2]]", "seed", "-1"), &set,
        &faults);
    ck_assert_uint_eq(faults.count, 3);
    ck_assert_str_eq(faults.items[0].field, "seed");
    ck_assert_str_eq(faults.items[1].field, "k");
    ck_assert_str_eq(faults.items[2].field, "v");
    parameter_faults_free(&faults);
    parameter_set_free(&set);
}
END_TEST

START_TEST(every_experiment_is_found_by_its_name_and_accepts_its_defaults) {
    size_t count = 0;
    for (; experiment_table[count] != NULL; count++) {
        const struct experiment *experiment = experiment_table[count];
        ck_assert_ptr_eq(experiment_find(experiment->name), experiment);
        for (size_t i = 0; i < experiment->parameter_count; i++) {
            ck_assert_ptr_nonnull(experiment->parameters[i].title);
            ck_assert_ptr_nonnull(experiment->parameters[i].meaning);
        }
    }
    ck_assert_uint_gt(count, 2);
    ck_assert_ptr_null(experiment_find("attention"));
}
END_TEST

/* Every variant of every experiment, completed with the defaults, would be accepted as a run. */
START_TEST(an_experiment_accepts_its_own_variants) {
    size_t count = 0;
    for (size_t i = 0; experiment_table[i] != NULL; i++)
        for (size_t j = 0; j < experiment_table[i]->variant_count; j++, count++) {
            const struct experiment_variant *variant = &experiment_table[i]->variants[j];
            const char *settings[2 * EXPERIMENT_VARIANT_SETTINGS + 1] = {0};
            for (size_t k = 0; k < EXPERIMENT_VARIANT_SETTINGS && variant->settings[k].parameter != NULL;
                 k++) {
                settings[2 * k] = variant->settings[k].parameter;
                settings[2 * k + 1] = variant->settings[k].value;
            }
            struct parameter_set set;
            struct parameter_faults faults = {0};
            prepare_experiment(experiment_table[i], settings, &set, &faults);
            ck_assert_uint_eq(faults.count, 0);
            parameter_set_free(&set);
            ck_assert_str_ne(experiment_variant_label(experiment_table[i], variant), "");
        }
    ck_assert_uint_eq(count, 5);
    ck_assert_str_eq(experiment_variant_label(&experiment_train, &experiment_train.variants[1]), "LSTM");
    ck_assert_str_eq(experiment_variant_label(&experiment_train, &experiment_train.variants[3]),
                     "attention (no position)");
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_add_test(tests, three_ways_give_one_average);
    tcase_add_test(tests, averages_of_one_token_and_of_too_many);
    tcase_add_test(tests, scaling_matches_pytorch);
    tcase_add_test(tests, a_saturated_softmax_has_little_gradient);
    tcase_add_test(tests, scaling_refuses_sizes_that_do_not_fit_and_can_be_cancelled);
    tcase_add_test(tests, progress_and_cancelling_reach_the_context);
    tcase_add_test(tests, all_faults_are_reported_at_once);
    tcase_add_test(tests, every_experiment_is_found_by_its_name_and_accepts_its_defaults);
    tcase_add_test(tests, an_experiment_accepts_its_own_variants);
}
