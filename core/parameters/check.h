/* Setting parameters, each checked against its declaration.
 *
 * A setter copies what it is given. If the declaration does not allow it, the value stays unset and a fault
 * says what is allowed and what was given. A value of the wrong type is a fault like any other, so a caller
 * hands over whatever the user wrote to the setter for what was written. Setters return whether they took
 * the value. */
#ifndef ATTNLAB_CORE_PARAMETERS_CHECK_H
#define ATTNLAB_CORE_PARAMETERS_CHECK_H

#include "core/parameters/faults.h"
#include "core/parameters/set.h"

/* Adds the fault of a value whose type is not the declared one. The message says what is allowed, with the
 * choices if there are any; `given` is the value as the user wrote it. Always returns false. */
bool parameter_faults_add_type(struct parameter_faults *faults,
                               const struct parameter_declaration *declaration, const char *given);

bool parameter_set_integer(struct parameter_set *set, size_t index, int64_t value,
                           struct parameter_faults *faults);
bool parameter_set_real(struct parameter_set *set, size_t index, double value,
                        struct parameter_faults *faults);
bool parameter_set_boolean(struct parameter_set *set, size_t index, bool value,
                           struct parameter_faults *faults);
bool parameter_set_text(struct parameter_set *set, size_t index, const char *value,
                        struct parameter_faults *faults);
bool parameter_set_integers(struct parameter_set *set, size_t index, const int64_t *values, size_t count,
                            struct parameter_faults *faults);
bool parameter_set_texts(struct parameter_set *set, size_t index, const char *const *values, size_t count,
                         struct parameter_faults *faults);
bool parameter_set_matrix(struct parameter_set *set, size_t index, const float *values, size_t rows,
                          size_t columns, struct parameter_faults *faults);

#endif
