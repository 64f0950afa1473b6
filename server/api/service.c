/* Opens and closes the parts of the daemon in order: see service.h. */
#include "server/api/service.h"

#include "core/math/matrix.h"
#include "server/formats/json_memory.h"
#include "server/formats/json_writer.h"
#include "server/http/background.h"
#include "server/runs/json.h"
#include "server/runs/workers.h"
#include "server/store/sqlite.h"
#include "server/system/clock.h"
#include "server/system/memory_limit.h"

enum { MEGABYTE = 1 << 20, ORDINARY_RUN_BYTES = 64 * MEGABYTE };

/* Of the queue's 1,000 places, those that students cannot take, however many they are. */
enum { LECTURERS_PLACES = 200 };

static void wake_readers(void *owner, const struct event *event) {
    parking_notify(owner, event->run_id);
}

/* Every worker gets the same share of the memory. So, whichever runs are at work together, they do not exceed
 * the total (except for retrieval with files larger than the published ones), and no run waits for another to
 * free memory. By default there are as many workers as cores, but fewer if a share would be too small for an
 * ordinary run. */
static size_t share_memory(struct service *service) {
    const struct options *options = service->options;
    unsigned long long memory =
        options->memory_mb > 0 ? (unsigned long long)options->memory_mb * MEGABYTE : memory_limit_default();
    size_t workers = options->workers > 0 ? options->workers : workers_default_count();
    while (options->workers == 0 && workers > 1 && memory / workers < ORDINARY_RUN_BYTES)
        workers--;
    service->memory_bytes = memory;
    service->memory_limit_bytes = memory / workers;
    return workers;
}

/* Of all answers, beside the memory of the runs. */
static size_t answer_memory(const struct service *service) {
    enum { PART = 8, LEAST = 32 * MEGABYTE, MOST = 1024 * MEGABYTE };
    size_t memory = service->memory_bytes / PART;
    return memory < LEAST ? LEAST : memory > MOST ? MOST : memory;
}

/* Of all models and data that are open for answers: as much as one run, but at most half of all runs. */
static size_t inspection_memory(const struct service *service) {
    size_t half = service->memory_bytes / 2;
    return half < service->memory_limit_bytes ? half : service->memory_limit_bytes;
}

/* Students can run for as long as the limits allow, so no student may occupy all workers: one stays free for
 * the next student. While it is idle, its core helps the other runs. */
static struct runs_options choose_runs_options(struct service *service) {
    size_t workers = share_memory(service);
    const struct options *options = service->options;
    bool has_students = options->access == ACCESS_TOKEN;
    return (struct runs_options){
        .worker_count = workers,
        .disk_quota = {.owner_bytes = options->student_limits.disk_mb * (unsigned long long)MEGABYTE,
                       .all_bytes = options->disk_mb * (unsigned long long)MEGABYTE,
                       .lecturer = has_students ? OWNER_LECTURER : NULL},
        .keep_runs = options->keep_runs,
        .running_limit_per_owner = has_students ? workers - 1 : 0,
        .favourite_owner = OWNER_LECTURER,
        .queue_kept = has_students ? LECTURERS_PLACES : 0};
}

/* Students' runs are held to seconds, which follow from the speed of this machine. Measured before any run is
 * at work, and once, so that the answer to a request does not depend on luck. */
static bool measure_speed(struct service *service, struct error *error) {
    if (service->options->access != ACCESS_TOKEN || service->options->students != STUDENTS_RUN)
        return true;
    struct text text = {0};
    const struct result_sink sink = json_result_sink(&text);
    bool is_measured = run_speed_measure(&service->speed, &sink, clock_thread_seconds, error);
    text_free(&text);
    return is_measured;
}

static bool open_http(struct service *service, const struct route_table *routes, struct error *error) {
    struct http_context *http = &service->http;
    http->options = service->options;
    http->routes = routes;
    http->access = service->access;
    http->service = service;
    if (!http_context_open(http, answer_memory(service), error))
        return false;
    service->event_source = (struct event_source){.log = service->event_log,
                                                  .runs = service->runs,
                                                  .parking = http->parking,
                                                  .statistics = http->statistics,
                                                  .is_draining = &http->is_draining};
    return true;
}

bool service_open(struct service *service, const struct options *options, const struct route_table *routes,
                  char *warning, size_t warning_size, struct error *error) {
    json_memory_install();
    service->options = options;
    if (!measure_speed(service, error))
        return false;
    const struct runs_options runs_options = choose_runs_options(service);
    if (!matrix_reserve(runs_options.worker_count + background_slow_thread_count(), error))
        return false;
    service->store = store_open_sqlite(options->data, warning, warning_size, error);
    service->event_log = service->store ? event_log_open(service->store, run_to_brief_json, error) : NULL;
    service->datasets = service->event_log ? datasets_open(service->store, options->data, error) : NULL;
    service->runs = service->datasets ? runs_open(&runs_options, service->store, service->event_log,
                                                  service->datasets, error)
                                      : NULL;
    service->inspector =
        service->runs ? inspector_open(service->store, service->datasets, inspection_memory(service), error)
                      : NULL;
    service->access = service->inspector
                          ? access_open(options, service->store, service->runs, service->datasets, error)
                          : NULL;
    if (!service->access || !open_http(service, routes, error)) {
        service_close(service);
        return false;
    }
    event_log_set_listener(service->event_log, wake_readers, service->http.parking);
    return true;
}

bool service_start(struct service *service, struct error *error) {
    return runs_start(service->runs, error);
}

void service_drain(struct service *service) {
    http_context_drain(&service->http);
    runs_stop(service->runs);
}

void service_close(struct service *service) {
    if (service->runs) /* so that no run notifies readers after they are gone */
        runs_stop(service->runs);
    http_context_close(&service->http);
    access_close(service->access);
    inspector_close(service->inspector);
    runs_close(service->runs);
    datasets_close(service->datasets);
    event_log_close(service->event_log);
    if (service->store)
        service->store->close(service->store);
}
