/* What a student may ask for. The lecturer is bound by none of it. */
#ifndef ATTNLAB_SERVER_ACCESS_LIMITS_H
#define ATTNLAB_SERVER_ACCESS_LIMITS_H

#include "core/parameters/faults.h"
#include "core/parameters/set.h"
#include "server/access/access.h"

/* Adds a fault for every parameter beyond a student's limits. `set` is prepared. */
void limits_check_parameters(const struct student_limits *limits, const struct caller *caller,
                             const struct parameter_set *set, struct parameter_faults *faults);
/* The most memory of a run, in bytes; `any` is the limit of everybody's runs. */
unsigned long long limits_find_memory(const struct student_limits *limits, const struct caller *caller,
                                      unsigned long long any);
/* How many of the caller's runs may wait; 0: no limit of one's own. */
size_t limits_find_queue(const struct student_limits *limits, const struct caller *caller);
/* How many runs of students in the caller's network may wait; 0: as many as the queue holds. */
size_t limits_find_network_queue(const struct student_limits *limits, const struct caller *caller);
/* The most bytes that a data set may have; SIZE_MAX: the route's own limit. */
size_t limits_find_data(const struct student_limits *limits, const struct caller *caller);
/* Whether the caller has room for `size` bytes more of data; ERROR_LIMIT if not. Reads the store. */
bool limits_check_data(const struct student_limits *limits, const struct caller *caller,
                       struct datasets *datasets, size_t size, struct error *error);

#endif
