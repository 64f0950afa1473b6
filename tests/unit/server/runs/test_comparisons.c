/* Comparisons: several runs in one table. */
#include "tests/unit/main.h"
#include "tests/unit/server/runs/runs_fixture.h"

#include <jansson.h>

START_TEST(a_comparison_makes_a_table) {
    enum { VARIANTS = 2, SEEDS = 3 };
    const char *const labels[VARIANTS] = {"one", "two \"quoted\""};
    const int64_t seeds[SEEDS] = {0, 1, 2};
    struct parameter_set parameters[VARIANTS * SEEDS];
    for (int i = 0; i < VARIANTS * SEEDS; i++) {
        char seed[32];
        snprintf(seed, sizeof seed, "seed=%d", i % SEEDS);
        counting_prepare(&parameters[i], SETTINGS(seed));
    }
    struct comparison_request request = {.experiment = &counting_experiment,
                                         .labels = labels,
                                         .variant_count = VARIANTS,
                                         .seeds = seeds,
                                         .seed_count = SEEDS,
                                         .parameters = parameters,
                                         .owner = "owner"};
    struct comparison_view view, *list = NULL;
    size_t count = 0;
    char id[ID_SIZE];
    open_all((struct runs_options){.worker_count = 2}, false);
    ck_assert_msg(runs_create_comparison(runs, &request, &view, &error), "%s", error.message);
    memcpy(id, view.record.id, ID_SIZE);
    ck_assert_int_eq(view.state, RUN_QUEUED);
    ck_assert(isnan(view.rows[0].accuracies[0]) && isnan(view.rows[1].mean));
    comparison_view_clear(&view);
    ck_assert(!runs_delete_comparison(runs, id, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    error = (struct error){0};
    ck_assert(runs_start(runs, &error));
    for (int waited = 0; waited < WAIT_MS; waited++) {
        ck_assert(runs_find_comparison(runs, id, &view, &error));
        if (run_state_has_ended(view.state))
            break;
        comparison_view_clear(&view);
        sleep_ms(1);
    }
    ck_assert_int_eq(view.state, RUN_SUCCEEDED);
    ck_assert_uint_eq(view.progress_done, VARIANTS * SEEDS);
    ck_assert_str_eq(view.rows[1].label, "two \"quoted\"");
    const struct comparison_row *row = &view.rows[0];
    double sum = row->accuracies[0] + row->accuracies[1] + row->accuracies[2];
    ck_assert_double_eq_tol(row->mean, sum / 3, 1e-12);
    ck_assert_double_eq(row->worst, fmin(row->accuracies[0], fmin(row->accuracies[1], row->accuracies[2])));
    ck_assert_int_eq(row->parameter_count, COUNTING_WEIGHTS);
    ck_assert_double_eq(row->seconds, 1.5);
    struct text json = {0};
    comparison_write_json(&json, NULL, &view, false);
    json_t *object = json_loads(json.bytes, 0, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "runs")), VARIANTS * SEEDS);
    ck_assert_uint_eq(json_array_size(json_object_get(object, "rows")), VARIANTS);
    json_decref(object);
    text_free(&json);
    comparison_view_clear(&view);
    ck_assert(!runs_cancel_comparison(runs, id, NULL, &error));
    ck_assert_int_eq(error.code, ERROR_CONFLICT);
    error = (struct error){0};
    ck_assert(runs_list_comparisons(runs, NULL, 10, &list, &count, &error));
    ck_assert_uint_eq(count, 1);
    comparison_view_clear(&list[0]);
    free(list);
    ck_assert(runs_delete_comparison(runs, id, &error));
    ck_assert(!runs_find_comparison(runs, id, &view, &error));
    for (int i = 0; i < VARIANTS * SEEDS; i++)
        parameter_set_free(&parameters[i]);
    close_all();
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, a_comparison_makes_a_table);
}
