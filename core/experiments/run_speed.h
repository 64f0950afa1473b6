/* How fast this machine does the work of runs, measured in a few milliseconds.
 *
 * Each kind of work is measured by doing some of it, with the kernels that runs use. The best of several
 * attempts counts, on a clock of the thread's own time, so that a busy machine gives about the same speed as
 * an idle one; the result is rounded up to a coarse scale, so that it is the same after most starts. Whoever
 * holds runs to a limit measures once and keeps the result: the same request then gets the same answer. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_RUN_SPEED_H
#define ATTNLAB_CORE_EXPERIMENTS_RUN_SPEED_H

#include "core/error.h"
#include "core/experiments/result.h"
#include "core/experiments/run_cost.h"

struct run_speed {
    double seconds[WORK_KIND_COUNT]; /* that one unit of each kind of work takes on one core */
};

/* `seconds_now` is a clock of this thread's processor time; `sink` receives an array of numbers, as a whole
 * result. False with ERROR_MEMORY. */
bool run_speed_measure(struct run_speed *speed, const struct result_sink *sink, double (*seconds_now)(void),
                       struct error *error);

/* The seconds of one core that the run takes at this speed: an estimate, within a factor of 4 for runs of a
 * tenth of a second or more (tests/api/costs.test.js). */
double run_cost_seconds(const struct run_cost *cost, const struct run_speed *speed);

#endif
