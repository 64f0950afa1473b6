/* Matches a path against the table of routes: see router.h. */
#include "server/http/router.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum method method;
    const char *name;
} method_names[] = {{METHOD_GET, "GET"},
                    {METHOD_HEAD, "HEAD"},
                    {METHOD_POST, "POST"},
                    {METHOD_DELETE, "DELETE"},
                    {METHOD_OPTIONS, "OPTIONS"}};

const struct export *route_exports(const struct route *route) {
    return route->exports ? route->exports : export_json;
}

const char *route_suffix(const struct route *route) {
    return format_table[route_exports(route)->format].suffix;
}

enum method method_find(const char *name) {
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++)
        if (strcmp(method_names[i].name, name) == 0)
            return method_names[i].method;
    return 0;
}

const char *method_name(enum method method) {
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++)
        if (method_names[i].method == method)
            return method_names[i].name;
    return "other";
}

void method_write_list(unsigned methods, char *list, size_t size) {
    if (methods & METHOD_GET)
        methods |= METHOD_HEAD;
    methods |= METHOD_OPTIONS;
    size_t length = 0;
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++) {
        if (methods & method_names[i].method && length < size) {
            length += (size_t)snprintf(list + length, size - length, "%s%s", length ? ", " : "",
                                       method_names[i].name);
        }
    }
}

/* Compares segment by segment; a segment in braces matches any text but the empty one. Returns the values as
 * positions and lengths in `path`. */
static bool match_pattern(const char *pattern, const char *path, const char *starts[ROUTE_VALUES_MAXIMUM],
                          size_t lengths[ROUTE_VALUES_MAXIMUM]) {
    size_t value = 0;
    while (*pattern && *path) {
        if (*pattern == '{') {
            size_t length = strcspn(path, "/");
            if (length == 0)
                return false;
            starts[value] = path;
            lengths[value++] = length;
            pattern += strcspn(pattern, "}") + 1;
            path += length;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *pattern == *path;
}

static bool match_route(struct route_match *match, const struct route *route, const char *path) {
    const char *starts[ROUTE_VALUES_MAXIMUM] = {0};
    size_t lengths[ROUTE_VALUES_MAXIMUM] = {0};
    if (!match_pattern(route->pattern, path, starts, lengths))
        return false;
    char *out = match->path;
    for (size_t i = 0; i < ROUTE_VALUES_MAXIMUM && starts[i]; i++) {
        match->values[i] = out;
        memcpy(out, starts[i], lengths[i]);
        out[lengths[i]] = '\0';
        out += lengths[i] + 1;
    }
    return true;
}

/* `path` without its suffix. */
static void match_table(struct route_match *match, const struct route_table *table, enum method method,
                        const char *path, const char *suffix) {
    for (size_t i = 0; i < table->count; i++) {
        const struct route *route = &table->routes[i];
        const struct export *export = export_find(route_exports(route), suffix);
        struct route_match found = {0};
        if (!export || !match_route(&found, route, path))
            continue;
        match->allowed_methods |= route->method;
        if (!match->route && route->method == method) {
            match_route(match, route, path);
            match->route = route;
            match->export = export;
        }
    }
}

void router_match(struct route_match *match, const struct route_table *table, enum method method,
                  const char *path) {
    *match = (struct route_match){0};
    size_t length = strlen(path);
    if (length >= PATH_SIZE)
        return;
    if (method == METHOD_HEAD)
        method = METHOD_GET;
    for (enum format format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        const char *suffix = format_table[format].suffix;
        size_t size = strlen(suffix);
        if (size > 0 && length > size && strcmp(path + length - size, suffix) == 0) {
            char plain[PATH_SIZE];
            memcpy(plain, path, length - size);
            plain[length - size] = '\0';
            match_table(match, table, method, plain, suffix);
            if (match->allowed_methods)
                return;
        }
    }
    match_table(match, table, method, path, "");
}
