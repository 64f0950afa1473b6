/* The parts of openapi.json that openapi.c puts together: see there. */
#ifndef ATTNLAB_SERVER_API_OPENAPI_PARTS_H
#define ATTNLAB_SERVER_API_OPENAPI_PARTS_H

#include "server/api/api.h"

/* "requestBody", if the route takes a body. */
void openapi_write_request_body(struct text *text, const struct route *route);
/* The components that are schemas of request bodies. */
void openapi_write_request_schemas(struct text *text);

/* "responses" of the path with this suffix: the success, and every problem that the route may answer with. */
void openapi_write_answers(struct text *text, const struct route *route, const char *suffix);
/* The components "responses" and "headers", to which the operations refer. */
void openapi_write_shared_answers(struct text *text);

/* {"application/json": {"schema": ...}}; without the name of a component, what can be said of the format. */
void openapi_write_media_type(struct text *text, enum format format, const char *json_schema);

#endif
