/* Keeps pages from other origins away from a daemon on the reader's own machine:
 *
 * - Host: it must be a loopback name, a plain address or a name given with --host. This refuses a foreign
 * name that was made to resolve to 127.0.0.1 (DNS rebinding).
 * - Origin: browsers send it with every write; it must be the origin that the Host header names. */
#include "server/http/guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Cuts the port off "name:port" or "[address]:port". */
static void cut_host_name(const char *host, char *name, size_t size) {
    if (*host == '[')
        snprintf(name, size, "%.*s", (int)strcspn(host + 1, "]"), host + 1);
    else
        snprintf(name, size, "%.*s", (int)strcspn(host, ":"), host);
}

static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    while (list && *list) {
        size_t item = strcspn(list, ",");
        if (item == length && strncasecmp(list, name, length) == 0)
            return true;
        list += item + (list[item] == ',');
    }
    return false;
}

static bool is_known_host(const struct options *options, const char *host) {
    char name[256];
    struct in6_addr address;
    cut_host_name(host, name, sizeof name);
    bool is_address = inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
    return is_address || strcasecmp(name, "localhost") == 0 || is_listed(options->host, name);
}

/* Only HTTP/1.0 has no Host (head.c), and no current browser uses it. */
static bool check_host(struct request *request) {
    const char *host = request_host(request);
    if (host && !is_known_host(request->http->options, host)) {
        response_set_problem(&request->response, 421,
                             "this service does not answer to the name %.100s; --host sets its names", host);
        return false;
    }
    return true;
}

static bool check_origin(struct request *request, enum method method) {
    const char *origin = request_header(request, "Origin");
    const char *host = request_host(request);
    if (!origin || !(method & (METHOD_POST | METHOD_DELETE)))
        return true;
    const char *separator = strstr(origin, "://");
    if (!separator || !host || strcasecmp(separator + 3, host) != 0) {
        response_set_problem(&request->response, 403,
                             "a page from another origin (%.100s) may not change anything here", origin);
        return false;
    }
    return true;
}

static bool check_not_draining(struct request *request, enum method method) {
    if (method & (METHOD_POST | METHOD_DELETE) && atomic_load(&request->http->is_draining)) {
        response_set_problem(&request->response, 503, "the service is ending");
        return false;
    }
    return true;
}

bool guard_check(struct request *request, enum method method) {
    return check_host(request) && check_origin(request, method) && check_not_draining(request, method);
}
