/* Everything a running daemon owns, as the handlers of requests see it. Made by service_open, in the order of
 * its members, and taken down in the opposite order. */
#ifndef ATTNLAB_SERVER_API_SERVICE_H
#define ATTNLAB_SERVER_API_SERVICE_H

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
    struct event_source event_source;      /* of the streams */
    unsigned long long memory_limit_bytes; /* of one run */
};

/* Options and routes are borrowed. On failure what was opened is closed again. `warning` (512 bytes) is what
 * the store has to tell, or "". */
bool service_open(struct service *service, const struct options *options, const struct route_table *routes,
                  char *warning, size_t warning_size, struct error *error);
/* Lets the workers begin. */
bool service_start(struct service *service, struct error *error);
/* Refuses new work, wakes everybody who waits, and interrupts the runs so that they go on after a restart. */
void service_drain(struct service *service);
void service_close(struct service *service);

#endif
