/* The service's health, for people and for Docker; and its counters, for Prometheus. */
#include "server/api/storage.h"

#include "core/math/kernels.h"
#include "server/formats/json_writer.h"
#include "server/system/version.h"

void api_health_get(struct request *request) {
    bool is_draining = atomic_load(&request->http->is_draining);
    struct runs_counts counts;
    struct text text = {0};
    if (is_draining) {
        response_set_problem(&request->response, 503, "the service is ending");
        return;
    }
    struct store *store = request->service->store;
    struct store_room room;
    runs_count(request->service->runs, &counts);
    store->measure(store, &room);
    json_write_begin_object(&text, NULL);
    json_write_string(&text, "status", "ok");
    json_write_string(&text, "version", ATTNLAB_VERSION);
    json_write_string(&text, "kernels", kernels_choose()->name);
    json_write_integer(&text, "workers", (int64_t)counts.workers);
    json_write_integer(&text, "running", (int64_t)counts.by_state[RUN_RUNNING]);
    json_write_integer(&text, "queued", (int64_t)counts.by_state[RUN_QUEUED]);
    json_write_integer(&text, "disk_free_bytes", (int64_t)room.free_bytes);
    json_write_integer(&text, "database_bytes", (int64_t)room.database_bytes);
    json_write_end_object(&text);
    response_set_json(&request->response, 200, &text);
}

static void write_state_counts(struct text *text, const char *name, const struct runs_counts *counts,
                               bool has_ended) {
    for (enum run_state state = 0; state < RUN_STATE_COUNT; state++) {
        if (run_state_has_ended(state) == has_ended)
            text_append_format(text, "%s{state=\"%s\"} %zu\n", name, run_state_name(state),
                               counts->by_state[state]);
    }
}

static bool write_prometheus(struct request *request, const void *shown, struct text *text,
                             struct error *error) {
    (void)shown, (void)error;
    struct runs_counts counts;
    size_t connections;
    unsigned long long overdue;
    connections_count(request->http->connections, &connections, &overdue);
    runs_count(request->service->runs, &counts);
    text_append_format(
        text,
        "# TYPE attnlab_connections gauge\nattnlab_connections %zu\n"
        "# TYPE attnlab_connections_overdue_total counter\nattnlab_connections_overdue_total %llu\n",
        connections, overdue);
    text_append_format(text,
                       "# TYPE attnlab_workers gauge\nattnlab_workers %zu\n"
                       "# TYPE attnlab_runs gauge\n",
                       counts.workers);
    write_state_counts(text, "attnlab_runs", &counts, false);
    text_append_string(text, "# TYPE attnlab_runs_ended_total counter\n");
    write_state_counts(text, "attnlab_runs_ended_total", &counts, true);
    text_append_format(text,
                       "# TYPE attnlab_training_steps_total counter\nattnlab_training_steps_total %llu\n"
                       "# TYPE attnlab_training_epochs_total counter\nattnlab_training_epochs_total %llu\n"
                       "# TYPE attnlab_waiting_connections gauge\nattnlab_waiting_connections %zu\n",
                       counts.steps, counts.epochs, parking_count(request->http->parking));
    storage_write_prometheus(request->service, text);
    statistics_write(request->http->statistics, text);
    return true;
}

const struct export api_prometheus_exports[] = {{FORMAT_PROMETHEUS, write_prometheus}, {0}};

void api_prometheus_get(struct request *request) {
    answer_export(request, NULL, TEXT_SMALL);
}
