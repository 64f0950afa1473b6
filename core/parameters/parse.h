/* Reads parameters from text: from the command line, and the declared defaults, which use the same notation.
 */
#ifndef ATTNLAB_CORE_PARAMETERS_PARSE_H
#define ATTNLAB_CORE_PARAMETERS_PARSE_H

#include "core/parameters/check.h"

/* Whether `text` is one whole number and nothing else. As in JSON, 5.0 and 5e0 are the whole number 5. */
bool parameter_parse_integer(const char *text, int64_t *number);

/* Sets a parameter from a command line's text ("64", "0.005", "true", "4,16,64", "[[1,0],[0,1]]" for a
 * matrix). */
bool parameter_set_from_text(struct parameter_set *set, size_t index, const char *text,
                             struct parameter_faults *faults);

/* Sets every unset parameter that has a fixed default (default_depends is false) to that default. */
bool parameter_set_apply_defaults(struct parameter_set *set, struct error *error);

#endif
