/* The result and the cost of attention-steps: every matrix in the order of the formula, the names of rows and
 * columns, and notes in words on what a mask or a mistake does. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_ATTENTION_STEPS_REPORT_H
#define ATTNLAB_CORE_EXPERIMENTS_ATTENTION_STEPS_REPORT_H

#include "core/experiments/attention_steps_inputs.h"
#include "core/experiments/result.h"
#include "core/experiments/run_cost.h"

/* Writes the members of the result into the object that is open. */
void attention_steps_report(const struct result_sink *sink, const struct attention_steps *steps,
                            const struct head_rules *rules, const struct parameter_set *set);

/* The numbers and labels of that result; and the arithmetic and the draws behind it. */
double attention_steps_count_numbers(const struct attention_steps_sizes *sizes);
void attention_steps_add_work(const struct attention_steps_sizes *sizes, struct run_cost *cost);

#endif
