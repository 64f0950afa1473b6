/* The schemas for openapi.json that do not follow from parameter declarations: those of requests, answers and
 * events. */
#ifndef ATTNLAB_SERVER_API_OPENAPI_SCHEMAS_H
#define ATTNLAB_SERVER_API_OPENAPI_SCHEMAS_H

#include "server/formats/text.h"

#include <stdbool.h>
#include <stddef.h>

struct openapi_member {
    const char *name;
    const char *json; /* its JSON Schema */
    bool is_optional; /* some answers leave it out */
};

/* An object with these members, up to the one without a name; an answer has all that are not optional. */
struct openapi_schema {
    const char *name;
    const struct openapi_member *members;
};

extern const struct openapi_schema openapi_schemas[];
extern const size_t openapi_schema_count;

/* Writes {"type": "object", "properties": {...}, "required": [...]} under the schema's name. */
void openapi_write_schema(struct text *text, const struct openapi_schema *schema);
/* The component Event: one event of a stream, as {"id", "event", "data"}. */
void openapi_write_event_schema(struct text *text);

#endif
