/* JSON and declared parameters: an experiment's parameters read from a request's object, written for a run,
 * and described as JSON Schema. Everything comes from the declarations. */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_PARAMETERS_H
#define ATTNLAB_SERVER_FORMATS_JSON_PARAMETERS_H

#include "core/parameters/check.h"
#include "server/formats/text.h"

#include <jansson.h>

/* False where the value is no whole number; 3.0 is one, as in JSON Schema. */
bool json_read_integer(const json_t *value, int64_t *integer);

/* Sets every member of `object` in `set`. Members named in `reserved` (NULL-terminated, may be NULL) belong
 * to the caller and are passed over. Unknown members and wrong types are faults; all are collected. */
void json_read_parameters(const json_t *object, const char *const *reserved, struct parameter_set *set,
                          struct parameter_faults *faults);

/* The fault of a member that is not declared: it names the nearest declared one, or lists the reserved. */
void json_add_unknown_fault(const char *field, const struct parameter_set *set, const char *const *reserved,
                            struct parameter_faults *faults);

/* An object with every value that is set. */
void json_write_parameters(struct text *text, const char *key, const struct parameter_set *set);

/* A new set from what json_write_parameters wrote and the store kept. The values were checked when they were
 * stored; ERROR_INVALID means that this program declares its parameters otherwise than the one that stored
 * them. Free with parameter_set_free in any case. */
bool json_restore_parameters(const char *stored, const struct parameter_declaration *declarations,
                             size_t count, struct parameter_set *set, struct error *error);

/* {"type": "object", "properties": {...}, "additionalProperties": false} */
void json_write_schema(struct text *text, const char *key, const struct parameter_declaration *declarations,
                       size_t count);
/* The schema of one declaration. */
void json_write_parameter_schema(struct text *text, const char *key,
                                 const struct parameter_declaration *declaration);

#endif
