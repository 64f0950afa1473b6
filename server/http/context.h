/* The state that all requests of one server share; it outlives them.
 *
 * The code in http/ uses only this. It never looks into the service, which is there for the handlers. */
#ifndef ATTNLAB_SERVER_HTTP_CONTEXT_H
#define ATTNLAB_SERVER_HTTP_CONTEXT_H

#include "server/access/access.h"
#include "server/http/background.h"
#include "server/http/connections.h"
#include "server/http/parking.h"
#include "server/http/places.h"
#include "server/http/router.h"
#include "server/http/send.h"
#include "server/http/statistics.h"
#include "server/system/options.h"

#include <stdatomic.h>

struct service;

enum { REQUEST_ID_SIZE = 32 };

struct http_context {
    /* Borrowed; set before http_context_open. */
    const struct options *options;
    const struct route_table *routes;
    struct access *access;
    struct service *service; /* for the routes' handlers */
    /* Created by http_context_open. */
    struct background *background;
    struct connections *connections;
    struct parking *parking;
    struct places *places; /* of requests */
    struct statistics *statistics;
    struct answer_budget answer_budget;
    char name[8];                   /* random, to distinguish this process's request ids from another's */
    atomic_ulong request_count;     /* since the process began */
    atomic_size_t body_bytes;       /* held by all requests that are being read or handled */
    atomic_int background_requests; /* being handled while their connections are suspended */
    atomic_bool is_draining;        /* the service is ending and accepts no new work */
};

/* Answers may take `answer_memory` bytes together. If it fails, it closes what it had opened. */
bool http_context_open(struct http_context *context, size_t answer_memory, struct error *error);
/* Writes a new id: it is in the log and in X-Request-Id. */
void http_context_name_request(struct http_context *context, char id[REQUEST_ID_SIZE]);
/* From now on, refuses new work; also wakes all waiting requests. */
void http_context_drain(struct http_context *context);
void http_context_close(struct http_context *context);

#endif
