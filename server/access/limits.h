/* The limits of a student's requests. None of them applies to the lecturer. */
#ifndef ATTNLAB_SERVER_ACCESS_LIMITS_H
#define ATTNLAB_SERVER_ACCESS_LIMITS_H

#include "core/experiments/experiment.h"
#include "core/experiments/run_speed.h"
#include "server/access/access.h"

/* Adds a fault for every parameter beyond a student's limits. `set` is prepared. */
void limits_check_parameters(const struct student_limits *limits, const struct caller *caller,
                             const struct parameter_set *set, struct parameter_faults *faults);
/* Adds faults if a run of the caller would take more time or store more than a student's run may. `set` is
 * prepared and has no faults. Each run of a comparison is held to the limits by itself: they wait and take
 * turns like runs that are asked for one by one, and how many may wait is limited too. */
void limits_check_cost(const struct student_limits *limits, const struct caller *caller,
                       const struct run_speed *speed, const struct experiment *experiment,
                       const struct parameter_set *set, const struct data_source *data,
                       struct parameter_faults *faults);
/* The most memory that a run of the caller may use, in bytes; `any` is the limit for everybody. */
unsigned long long limits_find_memory(const struct student_limits *limits, const struct caller *caller,
                                      unsigned long long any);
/* How many of the caller's runs may wait; 0: the caller has no limit of their own. */
size_t limits_find_queue(const struct student_limits *limits, const struct caller *caller);
/* How many runs of students in the caller's network may wait; 0: as many as the queue holds. */
size_t limits_find_network_queue(const struct student_limits *limits, const struct caller *caller);
/* The most bytes that a data set may have; SIZE_MAX: only the route's own limit applies. */
size_t limits_find_data(const struct student_limits *limits, const struct caller *caller);
/* Whether the caller may store `size` more bytes of data; ERROR_LIMIT if not. Reads the store. */
bool limits_check_data(const struct student_limits *limits, const struct caller *caller,
                       struct datasets *datasets, size_t size, struct error *error);

#endif
