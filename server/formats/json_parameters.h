/* Declared parameters in JSON: reads them from a request's object, writes those of a run, and describes them
 * as JSON Schema. Everything comes from the declarations. */
#ifndef ATTNLAB_SERVER_FORMATS_JSON_PARAMETERS_H
#define ATTNLAB_SERVER_FORMATS_JSON_PARAMETERS_H

#include "core/parameters/check.h"
#include "server/formats/text.h"

#include <jansson.h>

/* False if the value is not a whole number; 3.0 is one, as in JSON Schema. */
bool json_read_integer(const json_t *value, int64_t *integer);

/* Sets in `set` every member of `object`, but skips members named in `reserved` (NULL-terminated, may be
 * NULL), which belong to the caller. Unknown members and wrong types are faults; all are collected. */
void json_read_parameters(const json_t *object, const char *const *reserved, struct parameter_set *set,
                          struct parameter_faults *faults);

/* Adds the fault of an undeclared member, with the nearest declared name or else all known names. */
void json_add_unknown_fault(const char *field, const struct parameter_set *set, const char *const *reserved,
                            struct parameter_faults *faults);

/* An object with every value that is set. */
void json_write_parameters(struct text *text, const char *key, const struct parameter_set *set);

/* A value in the command line's notation, written by its declared type under the parameter's name: "8" of an
 * integer parameter becomes the number 8. The text fails if memory is short or the value is not allowed. */
void json_write_parameter_value(struct text *text, const struct parameter_declaration *declaration,
                                const char *value);

/* Reads a new set from JSON that json_write_parameters wrote and the store kept. The values were checked
 * before they were stored, so ERROR_INVALID means that the program that stored them declared its parameters
 * differently. Free with parameter_set_free in any case. */
bool json_restore_parameters(const char *stored, const struct parameter_declaration *declarations,
                             size_t count, struct parameter_set *set, struct error *error);

/* {"type": "object", "properties": {...}, "additionalProperties": false} */
void json_write_schema(struct text *text, const char *key, const struct parameter_declaration *declarations,
                       size_t count);
/* The schema of one declaration. */
void json_write_parameter_schema(struct text *text, const char *key,
                                 const struct parameter_declaration *declaration);

#endif
