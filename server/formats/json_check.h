/* Checks stored JSON before it is copied into an answer. */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_CHECK_H
#define ATTNLAB_SERVER_FORMATS_JSON_CHECK_H

#include <stdbool.h>

enum json_kind { JSON_KIND_NONE, JSON_KIND_OBJECT, JSON_KIND_ARRAY, JSON_KIND_OTHER };

/* The kind of value that `text` is, if it is one JSON value (RFC 8259, UTF-8, at most JSON_DEPTH_LIMIT
 * containers deep) in one line, as the JSON writer makes it. JSON_KIND_NONE if it is anything else or NULL.
 */
enum json_kind json_check(const char *text);

#endif
