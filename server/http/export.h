/* The formats in which a resource is given out.
 *
 * A route lists them, the usual one first; a route without a list answers in JSON alone. From the lists come
 * the paths with a suffix, what an Accept header may choose, and the content types in openapi.json. To give a
 * resource another format, add a line to its list and write the writer. */
#ifndef ATTNLAB_SERVER_HTTP_EXPORT_H
#define ATTNLAB_SERVER_HTTP_EXPORT_H

#include "core/error.h"
#include "server/formats/format.h"
#include "server/formats/text.h"

struct request;

struct export {
    enum format format; /* FORMAT_NONE ends a list */
    /* Writes what the handler shows, of the type that the handler and its writers agree on. NULL if the
     * handler answers by itself. */
    bool (*write)(struct request * request, const void *shown, struct text *text, struct error *error);
};

/* For routes that answer in JSON alone. */
extern const struct export export_json[];

/* The first one of the list with that suffix ("" too); NULL if there is none. */
const struct export *export_find(const struct export *list, const char *suffix);
/* What the Accept header prefers of a list; `usual` if that is as good, or if `accept` is NULL. */
const struct export *export_choose(const struct export *list, const struct export *usual, const char *accept);

#endif
