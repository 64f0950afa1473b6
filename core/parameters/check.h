/* Sets parameters and checks each value against its declaration.
 *
 * A setter copies its argument. If the declaration does not allow the value, the parameter stays unset and a
 * fault says what is allowed and what was given. A value of the wrong type is an ordinary fault: the caller
 * uses the setter for the type that the user wrote, whatever the declared type. Setters return whether they
 * accepted the value. */
#ifndef ATTNLAB_CORE_PARAMETERS_CHECK_H
#define ATTNLAB_CORE_PARAMETERS_CHECK_H

#include "core/parameters/faults.h"
#include "core/parameters/set.h"

/* A number with a point or an exponent is a whole number only up to this size, within int64_t. */
#define PARAMETER_INTEGER_LIMIT 9e18

/* The length of a UTF-8 text in characters (code points), as JSON Schema counts it. */
size_t parameter_count_characters(const char *text);

/* Adds a fault for a value of the wrong type. The message says what is allowed, including any choices;
 * `given` is the value as the user wrote it. Always returns false. */
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
