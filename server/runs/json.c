/* Writes runs and comparisons: see json.h. */
#include "server/runs/json.h"

#include "server/formats/json_check.h"
#include "server/formats/json_writer.h"
#include "server/system/clock.h"

#include <string.h>

/* null until the time is set. */
static void write_time(struct text *text, const char *key, int64_t milliseconds) {
    char formatted[32];
    clock_format_rfc3339(milliseconds, formatted);
    json_write_string(text, key, milliseconds != 0 ? formatted : NULL);
}

static void write_progress(struct text *text, size_t done, size_t total, const char *unit) {
    json_write_begin_object(text, "progress");
    json_write_integer(text, "done", (int64_t)done);
    json_write_integer(text, "total", (int64_t)total);
    json_write_string(text, "unit", unit);
    json_write_end_object(text);
}

/* Of one byte of a string in JSON; of one number; and of an object's other members. */
enum { ESCAPED_SIZE = 6, NUMBER_SIZE = 25, MEMBERS_SIZE = 1024 };

static size_t length_of(const char *text) {
    return text != NULL ? strlen(text) : 0;
}

size_t run_json_size(const struct run_record *run) {
    return length_of(run->parameters_json) + length_of(run->result_json) +
           ESCAPED_SIZE * (length_of(run->name) + length_of(run->error)) + MEMBERS_SIZE;
}

size_t comparison_json_size(const struct comparison_view *view) {
    size_t cells = view->variant_count * view->seed_count, labels = 0;
    for (size_t i = 0; i < view->variant_count; i++)
        labels += length_of(view->rows[i].label);
    return ESCAPED_SIZE * (length_of(view->record.name) + labels) + length_of(view->record.seeds_json) +
           cells * (2 * (ID_SIZE + 3) + NUMBER_SIZE) + (view->variant_count + 1) * MEMBERS_SIZE;
}

/* Names the parts of a run that cannot be read, if there are any. */
static void write_damage(struct text *text, const struct run_record *run, bool has_parameters,
                         bool has_result) {
    if (!run->is_damaged && has_parameters && has_result)
        return;
    json_write_begin_array(text, "damaged");
    if (run->is_damaged)
        json_write_string(text, NULL, "run");
    if (!has_parameters)
        json_write_string(text, NULL, "parameters");
    if (!has_result)
        json_write_string(text, NULL, "result");
    json_write_end_array(text);
}

/* A stored text that is no object (any more) must not make the whole answer unreadable. */
void run_write_json(struct text *text, const char *key, const struct run_record *run,
                    const bool *may_delete) {
    bool has_parameters =
        run->parameters_json == NULL || json_check(run->parameters_json) == JSON_KIND_OBJECT;
    bool has_result = run->result_json == NULL || json_check(run->result_json) == JSON_KIND_OBJECT;
    json_write_begin_object(text, key);
    json_write_string(text, "id", run->id);
    json_write_string(text, "experiment", run->experiment);
    json_write_string(text, "name", run->name);
    json_write_raw(text, "parameters",
                   has_parameters && run->parameters_json != NULL ? run->parameters_json : "{}");
    if (run->parameters_json == NULL)
        json_write_boolean(text, "parameters_omitted", true);
    bool has_dataset = run->dataset_digest != NULL && run->dataset_digest[0] != '\0';
    json_write_string(text, "dataset_digest", has_dataset ? run->dataset_digest : NULL);
    json_write_string(text, "state", run_state_name(run->state));
    write_progress(text, run->progress_done, run->progress_total, run->progress_unit);
    write_time(text, "created_at", run->created_ms);
    write_time(text, "started_at", run->started_ms);
    write_time(text, "finished_at", run->finished_ms);
    json_write_string(text, "kernels", run->kernels[0] != '\0' ? run->kernels : NULL);
    json_write_raw(text, "result", has_result ? run->result_json : NULL);
    if (run_record_lacks_result(run))
        json_write_boolean(text, "result_omitted", true);
    json_write_string(text, "error",
                      run->error != NULL || !run->is_damaged ? run->error
                                                             : "what is stored of this run is damaged");
    write_damage(text, run, has_parameters, has_result);
    json_write_string(text, "comparison", run->comparison[0] != '\0' ? run->comparison : NULL);
    if (may_delete != NULL)
        json_write_boolean(text, "may_delete", *may_delete);
    json_write_end_object(text);
}

void run_write_brief_json(struct text *text, const char *key, const struct run_record *run,
                          const bool *may_delete) {
    struct run_record brief = *run;
    if (result_is_large(brief.result_json))
        brief.result_json = NULL;
    if (result_is_large(brief.parameters_json))
        brief.parameters_json = NULL;
    run_write_json(text, key, &brief, may_delete);
}

char *run_to_brief_json(const struct run_record *run, size_t *length, struct error *error) {
    struct text text = {0};
    run_write_brief_json(&text, NULL, run, NULL);
    size_t size = text.length;
    char *bytes = text_release(&text);
    if (bytes == NULL)
        error_set_memory(error, size);
    else if (length != NULL)
        *length = size;
    return bytes;
}

/* `ids` are those of the row's runs, one for each seed; "" for a deleted run. */
static void write_row(struct text *text, const struct comparison_row *row, char (*ids)[ID_SIZE],
                      size_t seed_count) {
    json_write_begin_object(text, NULL);
    json_write_string(text, "label", row->label);
    json_write_begin_array(text, "runs");
    for (size_t i = 0; i < seed_count; i++)
        json_write_string(text, NULL, ids[i][0] != '\0' ? ids[i] : NULL);
    json_write_end_array(text);
    json_write_begin_array(text, "accuracies");
    for (size_t i = 0; i < seed_count; i++)
        json_write_number(text, NULL, row->accuracies[i]);
    json_write_end_array(text);
    json_write_number(text, "mean", row->mean);
    json_write_number(text, "worst", row->worst);
    if (row->parameter_count > 0)
        json_write_integer(text, "parameter_count", row->parameter_count);
    else
        json_write_null(text, "parameter_count");
    json_write_number(text, "seconds", row->seconds);
    json_write_end_object(text);
}

void comparison_write_json(struct text *text, const char *key, const struct comparison_view *view,
                           bool may_delete) {
    json_write_begin_object(text, key);
    json_write_string(text, "id", view->record.id);
    json_write_string(text, "experiment", view->record.experiment);
    json_write_string(text, "name", view->record.name);
    json_write_string(text, "state", run_state_name(view->state));
    write_progress(text, view->progress_done, view->progress_total, "runs");
    write_time(text, "created_at", view->record.created_ms);
    bool has_seeds = json_check(view->record.seeds_json) == JSON_KIND_ARRAY;
    json_write_raw(text, "seeds", has_seeds ? view->record.seeds_json : "[]");
    if (view->record.is_damaged || !has_seeds)
        json_write_boolean(text, "damaged", true);
    json_write_begin_array(text, "runs");
    for (size_t i = 0; i < view->variant_count * view->seed_count; i++)
        if (view->run_ids[i][0] != '\0')
            json_write_string(text, NULL, view->run_ids[i]);
    json_write_end_array(text);
    json_write_begin_array(text, "rows");
    for (size_t i = 0; i < view->variant_count; i++)
        write_row(text, &view->rows[i], view->run_ids + i * view->seed_count, view->seed_count);
    json_write_end_array(text);
    json_write_boolean(text, "may_delete", may_delete);
    json_write_end_object(text);
}
