/* What the requests of one server share: made before the first of them, closed after the last.
 *
 * All of http/ works on this and never looks at the service behind it, which is for the handlers alone. */
#ifndef ATTNLAB_SERVER_HTTP_CONTEXT_H
#define ATTNLAB_SERVER_HTTP_CONTEXT_H

#include "server/access/access.h"
#include "server/http/background.h"
#include "server/http/connections.h"
#include "server/http/parking.h"
#include "server/http/router.h"
#include "server/http/send.h"
#include "server/http/statistics.h"
#include "server/system/options.h"

#include <stdatomic.h>

struct service;

struct http_context {
    /* Borrowed; set before http_context_open. */
    const struct options *options;
    const struct route_table *routes;
    struct access *access;
    struct service *service; /* what the routes' handlers work on */
    /* Made by http_context_open. */
    struct background *background;
    struct connections *connections;
    struct parking *parking;
    struct statistics *statistics;
    struct large_answers large_answers;
    char name[8];                   /* random: tells the request ids of one process from others */
    atomic_ulong request_count;     /* since the process began */
    atomic_size_t body_bytes;       /* of all requests that are being read or worked on */
    atomic_int background_requests; /* being worked on, their connections suspended */
    atomic_bool is_draining;        /* the service is ending: no new work */
};

/* Large answers may take `answer_memory` bytes together. On failure what was opened is closed again. */
bool http_context_open(struct http_context *context, size_t answer_memory, struct error *error);
/* Refuses new work from now on, and wakes everybody who waits. */
void http_context_drain(struct http_context *context);
void http_context_close(struct http_context *context);

#endif
