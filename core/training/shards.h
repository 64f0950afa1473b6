/* A batch in a fixed number of parts, so that one run can use several cores.
 *
 * Every part has its own activations and its own gradient; the parts' gradients are added in a fixed order,
 * in Adam's step, which is divided by parameters.
 * How a batch is divided depends on nothing but its size and the model, so one thread or eight give the same
 * bits. */
#ifndef ATTNLAB_CORE_TRAINING_SHARDS_H
#define ATTNLAB_CORE_TRAINING_SHARDS_H

#include "core/model/adam.h"
#include "core/model/model.h"
#include "core/tasks/task.h"
#include "core/training/run_host.h"

/* How many parts: fewer where a layer does the same work for each of them (layer_type.shares_work). */
enum { SHARD_MAXIMUM = 4, SHARD_MAXIMUM_SHARED = 2 };

struct shard {
    struct model_workspace workspace;
    float *values; /* the part's examples, gathered: as in struct model_batch */
    int32_t *tokens;
    uint8_t *present;
    int32_t *labels;
    float *grad_logits;
    float *gradient; /* [parameter_count] */
    double loss;     /* the sum over its examples */
    size_t correct;  /* of its examples, those whose largest logit is the label's */
};

struct shards {
    const struct model *model;
    const struct kernels *kernels;
    size_t count;
    struct shard parts[SHARD_MAXIMUM];
    float *gradients; /* [count][parameter_count]; their sum is the gradient of the batch */
};

/* Takes its memory from `arena` (which may only measure), for batches of at most `batch_size`. */
void shards_layout(struct shards *shards, const struct model *model, size_t batch_size, struct arena *arena);

/* The examples of a step: rows order[first .. first + count - 1] of a set, or with order NULL rows first ..
 */
struct shard_batch {
    const struct example_set *examples;
    const size_t *order;
    size_t first, count;
};

/* Of `host` these two use the executor and the stop request, after which their result means nothing.
 *
 * Forward and backward: leaves every part's gradient of the batch's mean loss and returns that loss. */
double shards_compute_gradient(struct shards *shards, const float *parameters,
                               const struct shard_batch *batch, const struct run_host *host);

/* Forward only: how many of the batch's examples are classified as labelled. */
size_t shards_count_correct(struct shards *shards, const float *parameters, const struct shard_batch *batch,
                            const struct run_host *host);

/* Adam's step with the sum of those gradients, over arrays of [parameter_count]. */
void shards_update_parameters(struct shards *shards, float *parameters, float *first_moment,
                              float *second_moment, const struct adam_factors *factors,
                              const struct parallel_executor *parallel);

#endif
