/* Everything a running daemon owns, as the handlers of requests see it. Made by service_open, in the order of
 * its members, and taken down in the opposite order. */
#ifndef ATTNLAB_SERVER_API_SERVICE_H
#define ATTNLAB_SERVER_API_SERVICE_H

#include "server/access/access.h"
#include "server/http/background.h"
#include "server/http/connections.h"
#include "server/http/parking.h"
#include "server/http/statistics.h"
#include "server/runs/datasets.h"
#include "server/runs/event_log.h"
#include "server/runs/inspector.h"
#include "server/runs/runs.h"
#include "server/store/store.h"
#include "server/system/options.h"

#include <stdatomic.h>

struct service {
    const struct options *options;
    struct store *store;
    struct event_log *event_log;
    struct datasets *datasets;
    struct runs *runs;
    struct inspector *inspector;
    struct background *background;
    struct access *access;
    struct connections *connections;
    struct parking *parking;
    struct statistics *statistics;
    char name[8];                          /* random: tells the request ids of one process from others */
    atomic_ulong request_count;            /* since the process began */
    unsigned long long memory_limit_bytes; /* of one run */
    atomic_size_t body_bytes;              /* of all requests that are being read or worked on */
    atomic_size_t large_answer_bytes;      /* of all large answers that are being sent */
    atomic_int background_requests;        /* being worked on, their connections suspended */
    atomic_bool is_draining;               /* the service is ending: no new work */
};

/* On failure what was opened is closed again. `warning` (512 bytes) is what the store has to tell, or "". */
bool service_open(struct service *service, const struct options *options, char *warning, size_t warning_size,
                  struct error *error);
/* Lets the workers begin. */
bool service_start(struct service *service, struct error *error);
/* Refuses new work, wakes everybody who waits, and interrupts the runs so that they go on after a restart. */
void service_drain(struct service *service);
void service_close(struct service *service);

#endif
