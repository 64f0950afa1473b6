/* Parameters from text: the command line's notation and the declared defaults, which use it too. */
#ifndef ATTNLAB_CORE_PARAMETERS_PARSE_H
#define ATTNLAB_CORE_PARAMETERS_PARSE_H

#include "core/parameters/check.h"

/* Sets from a command line's text ("64", "0.005", "true", "4,16,64", "[[1,0],[0,1]]" for a matrix). */
bool parameter_set_from_text(struct parameter_set *set, size_t index, const char *text,
                             struct parameter_faults *faults);

/* Gives every unset value whose declaration has a fixed default (default_depends false) that default. */
bool parameter_set_apply_defaults(struct parameter_set *set, struct error *error);

#endif
