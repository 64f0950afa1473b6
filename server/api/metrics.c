/* A run's metrics: one row an epoch. */
#include "server/api/api.h"
#include "server/formats/csv.h"
#include "server/formats/json_writer.h"

#include <stdlib.h>

static void write_json(struct text *text, const struct epoch_metrics *rows, size_t count) {
    json_write_begin_object(text, NULL);
    json_write_begin_array(text, "rows");
    for (size_t i = 0; i < count; i++) {
        json_write_begin_object(text, NULL);
        json_write_integer(text, "epoch", (int64_t)rows[i].epoch);
        json_write_number(text, "train_loss", rows[i].train_loss);
        json_write_number(text, "test_accuracy", rows[i].test_accuracy);
        json_write_number(text, "seconds", rows[i].seconds);
        json_write_end_object(text);
    }
    json_write_end_array(text);
    json_write_end_object(text);
}

static void write_csv(struct text *text, const struct epoch_metrics *rows, size_t count) {
    text_append_string(text, "epoch,train_loss,test_accuracy,seconds\r\n");
    for (size_t i = 0; i < count; i++) {
        text_append_format(text, "%zu,", rows[i].epoch);
        csv_append_number(text, rows[i].train_loss);
        csv_next_field(text);
        csv_append_number(text, rows[i].test_accuracy);
        csv_next_field(text);
        csv_append_number(text, rows[i].seconds);
        csv_end_row(text);
    }
}

void api_metrics_get(struct request *request) {
    struct service *service = request->service;
    const char *id = request_path_value(request, 0);
    struct run_record run = {0};
    struct epoch_metrics *rows = NULL;
    struct error error = {0};
    struct text text = {0};
    size_t count = 0;
    if (!runs_find(service->runs, id, &run, &error) ||
        !service->store->read_metrics(service->store, id, &rows, &count, &error)) {
        response_set_error(&request->response, &error);
    } else if (request->match.format == FORMAT_CSV) {
        write_csv(&text, rows, count);
        response_set_text(&request->response, 200, "text/csv; charset=utf-8", &text);
    } else {
        write_json(&text, rows, count);
        response_set_text(&request->response, 200, "application/json", &text);
    }
    run_record_clear(&run);
    free(rows);
}
