/* Why scores are scaled, in four numbers, as the lecture notebook ends: keys and queries of unit variance are
 * drawn; the variance of their scores is about d_k, that of the scaled scores about 1. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_ATTENTION_VARIANCES_H
#define ATTNLAB_CORE_EXPERIMENTS_ATTENTION_VARIANCES_H

#include "core/experiments/attention_steps_inputs.h"
#include "core/experiments/result.h"
#include "core/experiments/run_cost.h"

/* Draws k, then q, for the whole batch, and writes {"k", "q", "scores", "scaled"}: unbiased variances, like
 * tensor.var(); NaN of a single number. ERROR_MEMORY. */
bool attention_variances_report(const struct result_sink *sink, const struct attention_steps_sizes *sizes,
                                struct torch_generator *generator, struct error *error);
void attention_variances_add_cost(const struct attention_steps_sizes *sizes, struct run_cost *cost);

#endif
