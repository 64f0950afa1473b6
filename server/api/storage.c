/* What runs and data sets take on the disk: for the page, which shows it and helps to make room, and for
 * Prometheus. */
#include "server/api/storage.h"

#include "server/formats/json_writer.h"

#include <stdlib.h>

enum { OWNERS_SHOWN = 50, MEGABYTE = 1 << 20 };

static void write_limit(struct text *text, const char *key, unsigned long long bytes) {
    if (bytes > 0)
        json_write_integer(text, key, (int64_t)bytes);
    else
        json_write_null(text, key);
}

static void write_room(struct text *text, const struct store_room *room) {
    json_write_integer(text, "disk_bytes", (int64_t)room->disk_bytes);
    json_write_integer(text, "free_bytes", (int64_t)room->free_bytes);
    json_write_integer(text, "margin_bytes", (int64_t)room->margin_bytes);
    json_write_integer(text, "reserve_bytes", (int64_t)room->reserve_bytes);
    json_write_integer(text, "database_bytes", (int64_t)room->database_bytes);
    json_write_integer(text, "used_bytes", (int64_t)room->used_bytes);
    json_write_integer(text, "log_bytes", (int64_t)room->log_bytes);
}

/* Who takes most; only the lecturer sees it. */
static bool write_owners(struct request *request, struct text *text, struct error *error) {
    struct store *store = request->service->store;
    struct usage_record *usage = NULL;
    size_t count = 0;
    if (request->caller.role == ROLE_LECTURER &&
        !store->list_usage(store, OWNERS_SHOWN, &usage, &count, error))
        return false;
    json_write_begin_array(text, "owners");
    for (size_t i = 0; i < count; i++) {
        json_write_begin_object(text, NULL);
        json_write_string(text, "owner", usage[i].owner);
        json_write_integer(text, "bytes", (int64_t)usage[i].bytes);
        json_write_integer(text, "runs", (int64_t)usage[i].run_count);
        json_write_end_object(text);
        free(usage[i].owner);
    }
    free(usage);
    json_write_end_array(text);
    return true;
}

void api_storage_get(struct request *request) {
    const struct service *service = request->service;
    const struct options *options = service->options;
    bool is_student = request->caller.role == ROLE_STUDENT;
    unsigned long long own = 0;
    struct store_room room;
    struct error error = {0};
    struct text text = {0};
    service->store->measure(service->store, &room);
    json_write_begin_object(&text, NULL);
    write_room(&text, &room);
    write_limit(&text, "limit_bytes", (unsigned long long)options->disk_mb * MEGABYTE);
    write_limit(&text, "own_limit_bytes",
                is_student ? (unsigned long long)options->student_limits.disk_mb * MEGABYTE : 0);
    if (service->store->read_usage(service->store, request->caller.owner, &own, &error) &&
        write_owners(request, &text, &error)) {
        json_write_integer(&text, "own_bytes", (int64_t)own);
        json_write_end_object(&text);
        response_set_json(&request->response, 200, &text);
    } else {
        response_set_error(&request->response, &error);
    }
    text_free(&text);
}

static void write_gauge(struct text *text, const char *name, unsigned long long value) {
    text_append_format(text, "# TYPE attnlab_%s gauge\nattnlab_%s %llu\n", name, name, value);
}

void storage_write_prometheus(const struct service *service, struct text *text) {
    const struct options *options = service->options;
    struct store_room room;
    service->store->measure(service->store, &room);
    write_gauge(text, "disk_bytes", room.disk_bytes);
    write_gauge(text, "disk_free_bytes", room.free_bytes);
    write_gauge(text, "disk_margin_bytes", room.margin_bytes);
    write_gauge(text, "disk_reserve_bytes", room.reserve_bytes);
    write_gauge(text, "database_bytes", room.database_bytes);
    write_gauge(text, "database_used_bytes", room.used_bytes);
    write_gauge(text, "database_log_bytes", room.log_bytes);
    if (options->disk_mb > 0)
        write_gauge(text, "disk_limit_bytes", (unsigned long long)options->disk_mb * MEGABYTE);
    if (options->access == ACCESS_TOKEN)
        write_gauge(text, "student_disk_limit_bytes",
                    (unsigned long long)options->student_limits.disk_mb * MEGABYTE);
}
