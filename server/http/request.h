/* One request, from its first line to its answer.
 *
 * http.c fills in the parts that come over the wire, the router finds the route, and the route's handler
 * makes the response. A handler runs on the HTTP thread and must not block; with ROUTE_BACKGROUND it runs on
 * a background thread instead, while the connection is suspended. A handler that wants to wait sets `poll`,
 * which is called at once and after every wake-up until it returns true. If the answer takes long to make,
 * either of them can set `later`, which is then called on a background thread for slow work. */
#ifndef ATTNLAB_SERVER_HTTP_REQUEST_H
#define ATTNLAB_SERVER_HTTP_REQUEST_H

#include "core/parameters/set.h"
#include "core/stop_request.h"
#include "server/access/access.h"
#include "server/formats/text.h"
#include "server/http/background.h"
#include "server/http/context.h"
#include "server/http/parking.h"
#include "server/http/problem.h"
#include "server/http/response.h"
#include "server/http/router.h"
#include "server/system/identifier.h"

#include <jansson.h>

struct MHD_Connection;

enum request_phase { REQUEST_READING, REQUEST_REFUSED, REQUEST_WAITING };

struct request {
    struct http_context *http;
    struct service *service; /* for handlers */
    struct MHD_Connection *connection;
    enum request_phase phase;
    double started; /* clock_seconds() */

    char id[REQUEST_ID_SIZE]; /* in the log and in X-Request-Id */
    char authority[256];      /* of an absolute address, "http://host:port/path"; "": there is none */
    enum method method;
    struct caller caller;     /* filled in by gate_check */
    struct place place;       /* taken by gate_check */
    struct route_match match; /* route, path values, format */
    struct parameter_set query;
    struct text body;
    size_t discarded; /* bytes of a body that is refused or too large */
    json_t *json;     /* the body of a route that takes JSON: an object */

    struct response response;
    bool (*poll)(struct request *request);
    void (*later)(struct request *request);
    struct parked parked;
    char waits_for_run[ID_SIZE];
    struct background_work work;
    bool has_left; /* the reader closed the connection, so there is no answer */
};

/* The value for one pair of braces in the pattern; they are counted from 0. */
const char *request_path_value(const struct request *request, size_t index);
/* The value of a header, or NULL. */
const char *request_header(const struct request *request, const char *name);
/* The host and port that the request is for: of its address if that is absolute, else of Host; or NULL. */
const char *request_host(const struct request *request);
/* Takes the authority off an absolute address (RFC 9112, 3.2.2). Returns the path in `url`. */
const char *request_take_path(struct request *request, const char *url);

/* Whether the client has closed the connection; sets request->has_left. For suspended connections alone, on
 * which libmicrohttpd, in every version up to now, documents that it does not detect it. A client that closed
 * only its sending side counts too, as it does for most proxies: the socket looks the same. */
bool request_check_left(struct request *request);
/* Requests a stop once the reader has left: for long work of a route with ROUTE_ABANDON. */
struct stop_request request_stop(struct request *request);

/* Reads the query and the body as the route declares them. On a fault, sets the response and returns false.
 * With ROUTE_OPEN_QUERY, arguments that the route does not declare are left to its handler. */
bool request_read_query(struct request *request);
bool request_read_body(struct request *request);
/* Refuses a query that has an argument twice, which is a 400 like a member twice in a body. */
void request_refuse_repeated(struct request *request, const char *name);
/* Calls `visit` for every argument of the query. */
void request_visit_query(const struct request *request,
                         void (*visit)(void *owner, const char *name, const char *value), void *owner);

#endif
