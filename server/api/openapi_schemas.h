/* The schemas for openapi.json that do not follow from parameter declarations: those of requests and
 * answers. */
#ifndef ATTNLAB_SERVER_API_OPENAPI_SCHEMAS_H
#define ATTNLAB_SERVER_API_OPENAPI_SCHEMAS_H

#include <stddef.h>

struct openapi_schema {
    const char *name;
    const char *json; /* a JSON Schema */
};

extern const struct openapi_schema openapi_schemas[];
extern const size_t openapi_schema_count;

#endif
