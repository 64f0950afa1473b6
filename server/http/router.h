/* Finds the handler for a method and a path.
 *
 * A route is a method and a pattern such as "/api/runs/{id}/metrics". The caller passes in the table
 * (api/routes.c). A route with several formats (export.h) also matches paths with their suffixes (".csv",
 * ".npy"). */
#ifndef ATTNLAB_SERVER_HTTP_ROUTER_H
#define ATTNLAB_SERVER_HTTP_ROUTER_H

#include "core/parameters/declaration.h"
#include "server/access/access.h"
#include "server/http/export.h"

struct request;

enum method { METHOD_GET = 1, METHOD_POST = 2, METHOD_DELETE = 4, METHOD_HEAD = 8, METHOD_OPTIONS = 16 };
enum body_kind { BODY_NONE, BODY_JSON, BODY_DATASET };
/* ROUTE_BACKGROUND: the handler may block, and runs on a background thread. ROUTE_SLOW: so it does, and it
 * may take long. ROUTE_ABANDON: once the reader has left, there is no use in it. */
enum route_flags { ROUTE_BACKGROUND = 1, ROUTE_OPEN_QUERY = 2, ROUTE_SLOW = 4, ROUTE_ABANDON = 8 };
enum { ROUTE_VALUES_MAXIMUM = 2, PATH_SIZE = 512 };

struct route {
    enum method method;
    const char *pattern;
    void (*handler)(struct request *request);
    const char *summary;
    enum access_need needs;
    unsigned flags;
    const struct export *exports; /* ends with FORMAT_NONE; NULL: only JSON */
    const struct parameter_declaration *query;
    size_t query_count;
    enum body_kind body;
    unsigned success_status;
    bool may_conflict;          /* the state of what the path or the body names may not allow the call: 409 */
    const char *request_schema; /* a component of openapi.json, or NULL */
    const char *response_schema; /* likewise, for its JSON answer */
};

struct route_table {
    const struct route *routes;
    size_t count;
};

struct route_match {
    const struct route *route;   /* NULL: no route has this path and method */
    unsigned allowed_methods;    /* of all routes with this path; 0: no route has it */
    const struct export *export; /* one of the route's: chosen by the suffix, then by the Accept header */
    char path[PATH_SIZE];        /* split into the values */
    const char *values[ROUTE_VALUES_MAXIMUM];
};

/* HEAD matches the same paths as GET. */
void router_match(struct route_match *match, const struct route_table *table, enum method method,
                  const char *path);
/* The route's formats, the usual one first. */
const struct export *route_exports(const struct route *route);
/* The suffix that selects the usual format; mostly "". */
const char *route_suffix(const struct route *route);
/* Returns 0 for a method that is not supported. */
enum method method_find(const char *name);
/* "GET"; "other" for 0. */
const char *method_name(enum method method);
/* "GET, HEAD, POST, OPTIONS" */
void method_write_list(unsigned methods, char *list, size_t size);

#endif
