/* The examples of a data set, exactly as a run sees them. */
#include "server/api/parameters.h"

#include "core/experiments/experiment.h"
#include "core/tasks/task.h"
#include "server/formats/csv.h"
#include "server/formats/json_parameters.h"
#include "server/formats/json_writer.h"

#include <string.h>

/* Prepares the parameters of a run on this data set, and finds its digest ("" if it is built in). On failure,
 * sets the response and returns false. */
static bool prepare_example_parameters(struct request *request, struct parameter_set *set,
                                       char digest[DATASET_DIGEST_SIZE]) {
    struct error error = {0};
    struct dataset_record record = {0};
    const char *name = request_path_value(request, 0);
    if (!datasets_find(request->service->datasets, name, &record, &error) &&
        (error.code != ERROR_MISSING || task_maker_find(name) == NULL)) {
        response_set_error(&request->response, &error);
        return false;
    }
    memcpy(digest, record.digest, DATASET_DIGEST_SIZE);
    dataset_record_clear(&record);
    return api_prepare_query(request, experiment_find("train"), name, set);
}

static void write_example_json(struct text *text, const struct inspection *inspection, size_t index,
                               const struct inspection_example *example) {
    struct result_sink sink = json_result_sink(text);
    json_write_begin_object(text, NULL);
    json_write_integer(text, "index", (int64_t)index);
    json_write_label(text, "label", inspection_class_name(inspection, example->label));
    json_write_integer(text, "class_index", (int64_t)example->label);
    if (example->values) {
        result_vector(&sink, "values", example->values, example->length);
    } else {
        json_write_string(text, "text", example->text);
        json_write_strings(text, "tokens", example->tokens, example->token_count);
        json_write_booleans(text, "unknown", example->unknown, example->token_count);
        if (example->decisive_position >= 0)
            json_write_integer(text, "decisive_position", example->decisive_position);
        else
            json_write_null(text, "decisive_position");
    }
    json_write_end_object(text);
}

static void write_example_csv(struct text *text, const struct inspection *inspection, size_t index,
                              const struct inspection_example *example) {
    text_append_format(text, "%zu,", index);
    csv_append_field(text, inspection_class_name(inspection, example->label));
    for (size_t i = 0; example->values && i < example->length; i++) {
        csv_next_field(text);
        csv_append_real(text, example->values[i]);
    }
    if (!example->values) {
        csv_next_field(text);
        csv_append_field(text, example->text);
    }
    csv_end_row(text);
}

/* Every split has at least one example, and all examples have the same columns. */
static bool write_csv_header(struct text *text, struct inspection *inspection, bool is_test,
                             struct error *error) {
    struct inspection_example example = {0};
    if (!inspection_example(inspection, is_test, 0, &example, error))
        return false;
    text_append_string(text, "index,label");
    for (size_t i = 0; example.values && i < example.length; i++)
        text_append_format(text, ",x%zu", i);
    if (!example.values)
        text_append_string(text, ",text");
    csv_end_row(text);
    return true;
}

/* One page of a split. */
struct shown_examples {
    struct inspection *inspection;
    bool is_test;
    size_t total, offset, limit;
};

/* `set` has the parameters of the whole data. */
static struct shown_examples read_page(const struct parameter_set *query, const struct parameter_set *set) {
    bool is_test = strcmp(parameter_text(query, "split"), "test") == 0;
    return (struct shown_examples){
        .is_test = is_test,
        .total = (size_t)parameter_integer(set, is_test ? "test_examples" : "train_examples"),
        .offset = (size_t)parameter_integer(query, "offset"),
        .limit = (size_t)parameter_integer(query, "limit")};
}

/* Draws no more examples than the page needs. Rounded up to a power of two, so that the next pages find them
 * drawn. */
static void draw_less(struct parameter_set *set, const struct shown_examples *page) {
    size_t needed = 64;
    while (needed < page->offset + page->limit)
        needed *= 2;
    size_t drawn = needed < page->total ? needed : page->total;
    api_draw_less(set, page->is_test ? 1 : drawn, page->is_test ? drawn : 1);
}

static bool write_rows(const struct shown_examples *page, struct text *text,
                       void (*write)(struct text *text, const struct inspection *inspection, size_t index,
                                     const struct inspection_example *example),
                       struct error *error) {
    for (size_t i = page->offset; i < page->total && i - page->offset < page->limit; i++) {
        struct inspection_example example = {0};
        if (!inspection_example(page->inspection, page->is_test, i, &example, error))
            return false;
        write(text, page->inspection, i, &example);
    }
    return true;
}

/* The most bytes that the page takes in any format. */
static bool measure_page(const struct shown_examples *page, size_t *size, struct error *error) {
    const struct inspection *inspection = page->inspection;
    size_t columns = inspection_step_count(inspection);
    *size = 2 * ANSWER_OBJECT + columns * ANSWER_NUMBER; /* of CSV's header: "x511," */
    for (size_t i = page->offset; i < page->total && i - page->offset < page->limit; i++) {
        struct inspection_example example = {0};
        if (!inspection_example(page->inspection, page->is_test, i, &example, error))
            return false;
        *size += ANSWER_OBJECT + ANSWER_ESCAPED * strlen(inspection_class_name(inspection, example.label));
        *size += example.values ? example.length * ANSWER_REAL : ANSWER_ESCAPED * strlen(example.text);
        for (size_t t = 0; t < example.token_count; t++)
            *size += ANSWER_ESCAPED * strlen(example.tokens[t]) + sizeof "\"\",false,";
    }
    return true;
}

static bool write_json(struct request *request, const void *shown, struct text *text, struct error *error) {
    const struct shown_examples *page = shown;
    json_write_begin_object(text, NULL);
    json_write_string(text, "name", request_path_value(request, 0));
    json_write_string(text, "split", page->is_test ? "test" : "train");
    json_write_integer(text, "total", (int64_t)page->total);
    json_write_integer(text, "offset", (int64_t)page->offset);
    json_write_begin_array(text, "examples");
    bool ok = write_rows(page, text, write_example_json, error);
    json_write_end_array(text);
    json_write_end_object(text);
    return ok;
}

static bool write_csv(struct request *request, const void *shown, struct text *text, struct error *error) {
    const struct shown_examples *page = shown;
    (void)request;
    return write_csv_header(text, page->inspection, page->is_test, error) &&
           write_rows(page, text, write_example_csv, error);
}

const struct export api_examples_exports[] = {{FORMAT_JSON, write_json}, {FORMAT_CSV, write_csv}, {0}};

void api_datasets_examples(struct request *request) {
    struct inspector *inspector = request->service->inspector;
    struct inspector_slot *slot = NULL;
    struct parameter_set set = {0};
    struct error error = {0};
    struct text key = {0};
    char digest[DATASET_DIGEST_SIZE];
    if (!prepare_example_parameters(request, &set, digest))
        goto cleanup;
    struct shown_examples page = read_page(&request->query, &set);
    draw_less(&set, &page);
    /* The contents are part of the key, because a new data set may get the name of a deleted one. */
    json_write_parameters(&key, NULL, &set);
    text_append_format(&key, " %s", digest);
    slot = key.failed
               ? NULL
               : inspector_acquire_parameters(inspector, key.bytes, &set, request_stop(request), &error);
    size_t size = 0;
    if (slot)
        page.inspection = slot->inspection;
    if (slot && measure_page(&page, &size, &error))
        answer_export(request, &page, size);
    else
        response_set_error(&request->response, &error);
cleanup:
    inspector_release(inspector, slot);
    parameter_set_free(&set);
    text_free(&key);
}
