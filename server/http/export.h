/* The formats that a resource is available in.
 *
 * A route lists its formats, the usual one first; a route without a list answers only in JSON. The lists
 * determine the paths with a suffix, the types that an Accept header may choose, and the content types in
 * openapi.json. To add a format to a resource, add a line to its list and write the writer. */
#ifndef ATTNLAB_SERVER_HTTP_EXPORT_H
#define ATTNLAB_SERVER_HTTP_EXPORT_H

#include "core/error.h"
#include "server/formats/format.h"
#include "server/formats/text.h"

struct request;

struct export {
    enum format format; /* FORMAT_NONE ends a list */
    /* Writes the handler's result; the handler and its writers agree on its type. NULL if the handler writes
     * the answer itself. */
    bool (*write)(struct request * request, const void *shown, struct text *text, struct error *error);
};

/* For routes that answer only in JSON. */
extern const struct export export_json[];

/* The first entry with that suffix (which may be ""); NULL if there is none. */
const struct export *export_find(const struct export *list, const char *suffix);
/* The entry that the Accept header prefers; `usual` if it is equally good, or if `accept` is NULL. */
const struct export *export_choose(const struct export *list, const struct export *usual, const char *accept);

#endif
