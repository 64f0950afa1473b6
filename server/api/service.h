/* All parts of a running daemon, as the handlers of requests use them. service_open makes them in the order
 * of the members; service_close closes them in the opposite order. */
#ifndef ATTNLAB_SERVER_API_SERVICE_H
#define ATTNLAB_SERVER_API_SERVICE_H

#include "core/experiments/run_speed.h"
#include "server/access/access.h"
#include "server/http/context.h"
#include "server/http/stream.h"
#include "server/runs/datasets.h"
#include "server/runs/event_log.h"
#include "server/runs/inspector.h"
#include "server/runs/runs.h"
#include "server/store/store.h"
#include "server/system/options.h"

struct service {
    const struct options *options;
    struct store *store;
    struct event_log *event_log;
    struct datasets *datasets;
    struct runs *runs;
    struct inspector *inspector;
    struct access *access;
    struct http_context http;
    struct event_source event_source;      /* for the event streams */
    unsigned long long memory_bytes;       /* for all runs */
    unsigned long long memory_limit_bytes; /* for one run */
    struct run_speed speed;                /* measured only if there can be students */
};

/* Options and routes are borrowed. If it fails, it closes what it had opened. `warning` (512 bytes) receives
 * a warning from the store, or "". */
bool service_open(struct service *service, const struct options *options, const struct route_table *routes,
                  char *warning, size_t warning_size, struct error *error);
/* Starts the workers. */
bool service_start(struct service *service, struct error *error);
/* Refuses new work, wakes all waiting requests, and interrupts the runs, which continue after a restart. */
void service_drain(struct service *service);
void service_close(struct service *service);

#endif
