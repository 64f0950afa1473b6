/* Makes a comparison's table from its record and its runs: see comparison_view.h. */
#include "server/runs/comparison_view.h"

#include "server/formats/json_check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAXIMUM = 1000000 }; /* many more than a queue can hold */

void comparison_view_clear(struct comparison_view *view) {
    for (size_t i = 0; view->rows != NULL && i < view->variant_count; i++) {
        free(view->rows[i].label);
        free(view->rows[i].accuracies);
    }
    free(view->rows);
    free(view->run_ids);
    comparison_record_clear(&view->record);
    *view = (struct comparison_view){0};
}

static bool are_texts(const json_t *array) {
    size_t i;
    const json_t *item;
    json_array_foreach(array, i, item) if (!json_is_string(item)) return false;
    return true;
}

/* Makes a row for each label, with a place for each seed; nothing is known of them yet. False if out of
 * memory: what has been made is freed with the view. */
static bool open_rows(struct comparison_view *view, const json_t *labels, size_t variants,
                      size_t seed_count) {
    view->run_ids = calloc(variants * seed_count, sizeof *view->run_ids);
    view->rows = calloc(variants, sizeof *view->rows);
    view->variant_count = variants;
    view->seed_count = seed_count;
    bool ok = view->run_ids != NULL && view->rows != NULL;
    for (size_t i = 0; ok && i < view->variant_count; i++) {
        struct comparison_row *row = &view->rows[i];
        row->label = strdup(json_string_value(json_array_get(labels, i)));
        row->accuracies = malloc(seed_count * sizeof *row->accuracies);
        row->mean = row->worst = row->seconds = NAN;
        ok = row->label != NULL && row->accuracies != NULL;
        for (size_t j = 0; ok && j < seed_count; j++)
            row->accuracies[j] = NAN;
    }
    return ok;
}

/* A comparison whose labels or seeds are damaged has no rows; its runs are still there. */
bool comparison_view_open(struct comparison_view *view, struct comparison_record *record,
                          struct error *error) {
    *view = (struct comparison_view){.record = *record};
    json_t *labels = json_loads(record->labels_json, 0, NULL);
    json_t *seeds = json_loads(record->seeds_json, 0, NULL);
    size_t variants = json_array_size(labels), seed_count = json_array_size(seeds);
    bool ok = (labels != NULL || json_check(record->labels_json) != JSON_KIND_ARRAY) &&
              (seeds != NULL || json_check(record->seeds_json) != JSON_KIND_ARRAY);
    if (!ok)
        error_set_memory(error, strlen(record->labels_json));
    else if (variants == 0 || seed_count == 0 || variants > CELLS_MAXIMUM / seed_count || !are_texts(labels))
        view->record.is_damaged = true;
    else
        ok = open_rows(view, labels, variants, seed_count);
    if (!ok)
        error_set_memory(error, variants * seed_count * sizeof *view->run_ids);
    json_decref(labels);
    json_decref(seeds);
    return ok;
}

static bool add_result(struct comparison_row *row, size_t seed, const char *result_json,
                       struct error *error) {
    if (result_json == NULL)
        return true;
    if (json_check(result_json) != JSON_KIND_OBJECT)
        return true; /* damaged; the run itself says so */
    json_t *result = json_loads(result_json, 0, NULL);
    if (result == NULL)
        return error_set_memory(error, strlen(result_json));
    const json_t *accuracy = json_object_get(result, "test_accuracy");
    const json_t *seconds = json_object_get(result, "seconds");
    const json_t *parameters = json_object_get(result, "parameter_count");
    if (json_is_number(accuracy))
        row->accuracies[seed] = json_number_value(accuracy);
    if (json_is_number(seconds))
        row->seconds = (isnan(row->seconds) ? 0 : row->seconds) + json_number_value(seconds);
    if (json_is_integer(parameters))
        row->parameter_count = json_integer_value(parameters);
    json_decref(result);
    return true;
}

static void summarise_row(struct comparison_row *row, size_t seed_count) {
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < seed_count; i++) {
        if (isnan(row->accuracies[i]))
            continue;
        sum += row->accuracies[i];
        known++;
        row->worst = isnan(row->worst) ? row->accuracies[i] : fmin(row->worst, row->accuracies[i]);
    }
    if (known > 0)
        row->mean = sum / (double)known;
}

/* The state of the whole comparison; once all runs have ended, it is the worst of their states. */
static enum run_state common_state(const size_t counts[RUN_STATE_COUNT], size_t total) {
    size_t unfinished = 0;
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++)
        unfinished += run_state_has_ended(state) ? 0 : counts[state];
    if (counts[RUN_QUEUED] == total && total > 0)
        return RUN_QUEUED;
    if (unfinished > 0)
        return RUN_RUNNING;
    if (counts[RUN_FAILED] > 0)
        return RUN_FAILED;
    return counts[RUN_CANCELLED] > 0 ? RUN_CANCELLED : RUN_SUCCEEDED;
}

/* Adds a run's result to its row; reads the result from the store if the record lacks it. */
static bool add_member(struct store *store, struct comparison_view *view, const struct run_record *run,
                       struct error *error) {
    struct comparison_row *row = &view->rows[run->comparison_variant];
    char *large = NULL;
    bool ok = !run_record_lacks_result(run) || store->read_result(store, run->id, &large, error);
    ok = ok && add_result(row, run->comparison_seed, large != NULL ? large : run->result_json, error);
    free(large);
    return ok;
}

bool comparison_view_fill(struct comparison_view *view, struct store *store, const struct run_record *list,
                          size_t count, struct error *error) {
    size_t counts[RUN_STATE_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct run_record *run = &list[i];
        if (run->comparison_variant >= view->variant_count || run->comparison_seed >= view->seed_count)
            continue;
        memcpy(view->run_ids[run->comparison_variant * view->seed_count + run->comparison_seed], run->id,
               ID_SIZE);
        if (!add_member(store, view, run, error))
            return false;
        counts[run->state]++;
        view->progress_done += run_state_has_ended(run->state);
    }
    for (size_t i = 0; i < view->variant_count; i++)
        summarise_row(&view->rows[i], view->seed_count);
    view->progress_total = count;
    view->state = common_state(counts, count);
    return true;
}
