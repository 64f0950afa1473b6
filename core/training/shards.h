/* Divides a batch into a fixed number of parts, so that one run can use several cores.
 *
 * Every part has its own activations and its own gradient. The optimiser's step adds the gradients in a fixed
 * order; it is itself divided by parameters. The division of a batch depends only on its size and on the
 * model, so one thread and eight threads give the same bits. */
#ifndef ATTNLAB_CORE_TRAINING_SHARDS_H
#define ATTNLAB_CORE_TRAINING_SHARDS_H

#include "core/model/model.h"
#include "core/model/optimizers.h"
#include "core/tasks/task.h"
#include "core/training/run_host.h"

/* The number of parts, smaller if a layer repeats the same work for each part (layer_type.shares_work). */
enum { SHARD_MAXIMUM = 4, SHARD_MAXIMUM_SHARED = 2 };

struct shard {
    struct model_workspace workspace;
    float *values; /* the gathered examples of the part, as in struct model_batch */
    int32_t *tokens;
    uint8_t *present;
    int32_t *labels;
    float *grad_logits;
    float *gradient; /* [parameter_count] */
    double loss;     /* the sum over its examples */
    size_t correct;  /* the number of examples whose largest logit is the label's */
};

struct shards {
    const struct model *model;
    const struct kernels *kernels;
    size_t count;
    struct shard parts[SHARD_MAXIMUM];
    float *gradients; /* [count][parameter_count]; their sum is the gradient of the batch */
};

/* Takes memory for batches of at most `batch_size` from `arena`, which may be a measuring arena. */
void shards_layout(struct shards *shards, const struct model *model, size_t batch_size, struct arena *arena);

/* The operations of a forward pass that a batch of any size takes for each of its parts: those of layers that
 * share work between examples, beyond the operations that model_operations counts for each example. */
double shards_shared_operations(const struct model *model);

/* The examples of a step: rows order[first] to order[first + count - 1] of a set; if order is NULL, rows
 * first to first + count - 1. */
struct shard_batch {
    const struct example_set *examples;
    const size_t *order;
    size_t first, count;
};

/* The next two functions use the executor and the stop request of `host`. After a stop request their results
 * are meaningless.
 *
 * Forward and backward: computes every part's gradient of the batch's mean loss and returns that loss. */
double shards_compute_gradient(struct shards *shards, const float *parameters,
                               const struct shard_batch *batch, const struct run_host *host);

/* Forward only: returns how many of the batch's examples are classified correctly. */
size_t shards_count_correct(struct shards *shards, const float *parameters, const struct shard_batch *batch,
                            const struct run_host *host);

/* Performs an optimiser's step with the sum of those gradients; all arrays are [parameter_count]. */
void shards_update_parameters(struct shards *shards, enum optimizer_kind optimizer, float *parameters,
                              float *first_moment, float *second_moment, const struct step_factors *factors,
                              const struct parallel_executor *parallel);

#endif
