/* A run's metrics: one row per epoch. */
#include "server/api/api.h"
#include "server/formats/csv.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>

/* Of a row, with the names of its members. */
enum { ROW_SIZE = 4 * ANSWER_NUMBER + 64, ROWS_ADDED_MEANWHILE = 1000 };

struct metrics {
    struct epoch_metrics *rows;
    size_t count;
};

static bool write_json(struct request *request, const void *shown, struct text *text, struct error *error) {
    (void)request, (void)error;
    const struct metrics *metrics = shown;
    json_write_begin_object(text, NULL);
    json_write_begin_array(text, "rows");
    for (size_t i = 0; i < metrics->count; i++) {
        json_write_begin_object(text, NULL);
        json_write_integer(text, "epoch", (int64_t)metrics->rows[i].epoch);
        json_write_number(text, "train_loss", metrics->rows[i].train_loss);
        json_write_number(text, "test_accuracy", metrics->rows[i].test_accuracy);
        json_write_number(text, "seconds", metrics->rows[i].seconds);
        json_write_end_object(text);
    }
    json_write_end_array(text);
    json_write_end_object(text);
    return true;
}

static bool write_csv(struct request *request, const void *shown, struct text *text, struct error *error) {
    (void)request, (void)error;
    const struct metrics *metrics = shown;
    text_append_string(text, "epoch,train_loss,test_accuracy,seconds\r\n");
    for (size_t i = 0; i < metrics->count; i++) {
        text_append_format(text, "%zu,", metrics->rows[i].epoch);
        csv_append_number(text, metrics->rows[i].train_loss);
        csv_next_field(text);
        csv_append_number(text, metrics->rows[i].test_accuracy);
        csv_next_field(text);
        csv_append_number(text, metrics->rows[i].seconds);
        csv_end_row(text);
    }
    return true;
}

const struct export api_metrics_exports[] = {{FORMAT_JSON, write_json}, {FORMAT_CSV, write_csv}, {0}};

void api_metrics_get(struct request *request) {
    struct service *service = request->service;
    const char *id = request_path_value(request, 0);
    struct run_record run = {0};
    struct run_sizes sizes = {0};
    struct metrics metrics = {0};
    struct error error = {0};
    if (!runs_find(service->runs, id, &run, &error) ||
        !service->store->measure_run(service->store, id, &sizes, &error)) {
        response_set_error(&request->response, &error);
        goto cleanup;
    }
    /* Epochs may end before they are read. */
    size_t most = sizes.metrics_count + ROWS_ADDED_MEANWHILE;
    if (!answer_reserve(request, 2 * most * sizeof *metrics.rows))
        goto cleanup;
    if (service->store->read_metrics(service->store, id, &metrics.rows, &metrics.count, &error))
        answer_export(request, &metrics, ANSWER_OBJECT + metrics.count * ROW_SIZE);
    else
        response_set_error(&request->response, &error);
cleanup:
    run_record_clear(&run);
    free(metrics.rows);
}
