/* Divides a batch into a fixed number of parts: see shards.h. */
#include "core/training/shards.h"

#include "core/math/denormals.h"
#include "core/model/loss.h"

#include <string.h>

/* The number of pieces of the parameters in an optimiser's step: as few as the shards of a batch, because a
 * step is short. Pieces are whole cache lines. */
enum { UPDATE_PIECES = SHARD_MAXIMUM_SHARED, PIECE_MULTIPLE = 16 };

static size_t count_for(const struct model *model) {
    for (size_t i = 0; i < model->layer_count; i++)
        if (model->layers[i].type->shares_work)
            return SHARD_MAXIMUM_SHARED;
    return SHARD_MAXIMUM;
}

void shards_layout(struct shards *shards, const struct model *model, size_t batch_size, struct arena *arena) {
    size_t count = count_for(model), capacity = (batch_size + count - 1) / count, steps = model->input.steps;
    *shards = (struct shards){.model = model, .kernels = kernels_choose(), .count = count};
    shards->gradients = arena_floats(arena, count * model->parameter_count);
    for (size_t i = 0; i < count; i++) {
        struct shard *shard = &shards->parts[i];
        model_workspace_layout(&shard->workspace, model, capacity, true, arena);
        if (model->reads_tokens) {
            shard->tokens = arena_allocate(arena, capacity * steps, sizeof *shard->tokens);
            shard->present = arena_allocate(arena, capacity * steps, sizeof *shard->present);
        } else {
            shard->values = arena_floats(arena, capacity * steps * model->input.width);
        }
        shard->labels = arena_allocate(arena, capacity, sizeof *shard->labels);
        shard->grad_logits = arena_floats(arena, capacity * model->class_count);
        if (shards->gradients != NULL)
            shard->gradient = shards->gradients + i * model->parameter_count;
    }
}

double shards_shared_operations(const struct model *model) {
    double operations = 0;
    for (size_t i = 0; i < model->layer_count; i++) {
        const struct layer *layer = &model->layers[i];
        if (layer->type->shares_work)
            operations += 2 * (double)layer->parameter_count * (double)layer->input.steps;
    }
    return operations * (double)count_for(model);
}

/* Shared by the threads of one call. */
struct shard_call {
    struct shards *shards;
    const float *parameters;
    const struct shard_batch *batch;
    const struct stop_request *stop;
    bool with_gradient;
};

/* Gathers part number `index` of the batch and returns it in the form that the model reads. */
static struct model_batch gather(const struct shard_call *call, size_t index) {
    struct shard *shard = &call->shards->parts[index];
    const struct shard_batch *batch = call->batch;
    const struct example_set *examples = batch->examples;
    size_t steps = call->shards->model->input.steps;
    size_t first = batch->count * index / call->shards->count,
           end = batch->count * (index + 1) / call->shards->count;
    for (size_t i = first; i < end; i++) {
        size_t row = batch->order == NULL ? batch->first + i : batch->order[batch->first + i], to = i - first;
        shard->labels[to] = examples->labels[row];
        if (shard->tokens == NULL) {
            memcpy(shard->values + to * steps, examples->values + row * steps, steps * sizeof *shard->values);
            continue;
        }
        memcpy(shard->tokens + to * steps, examples->tokens + row * steps, steps * sizeof *shard->tokens);
        for (size_t t = 0; t < steps; t++)
            shard->present[to * steps + t] = examples->tokens[row * steps + t] != TOKEN_PADDING;
    }
    return (struct model_batch){end - first, shard->values, shard->tokens, shard->present, call->stop};
}

static size_t count_correct(const float *logits, const int32_t *labels, size_t count, size_t classes) {
    size_t correct = 0;
    for (size_t i = 0; i < count; i++)
        correct += largest_index(logits + i * classes, classes) == (size_t)labels[i];
    return correct;
}

static void work_on_shard(void *argument, size_t index) {
    const struct shard_call *call = argument;
    struct shards *shards = call->shards;
    struct shard *shard = &shards->parts[index];
    const struct model *model = shards->model;
    unsigned denormals = denormals_flush();
    struct model_batch batch = gather(call, index);
    const float *logits = model_forward(model, call->parameters, &shard->workspace, &batch, shards->kernels);
    if (call->with_gradient) {
        memset(shard->gradient, 0, model->parameter_count * sizeof *shard->gradient);
        shard->loss = cross_entropy(logits, shard->labels, batch.count, model->class_count,
                                    1 / (float)call->batch->count, shard->grad_logits);
        model_backward(model, call->parameters, &shard->workspace, &batch, shard->grad_logits, NULL,
                       shard->gradient, shards->kernels);
    } else {
        shard->correct = count_correct(logits, shard->labels, batch.count, model->class_count);
    }
    denormals_restore(denormals);
}

static void run_parts(const struct parallel_executor *parallel, size_t count,
                      void (*work)(void *argument, size_t index), void *argument) {
    if (parallel->run != NULL) {
        parallel->run(parallel->owner, count, work, argument);
        return;
    }
    for (size_t i = 0; i < count; i++)
        work(argument, i);
}

double shards_compute_gradient(struct shards *shards, const float *parameters,
                               const struct shard_batch *batch, const struct run_host *host) {
    struct shard_call call = {shards, parameters, batch, &host->stop, true};
    run_parts(&host->parallel, shards->count, work_on_shard, &call);
    double loss = 0;
    for (size_t i = 0; i < shards->count; i++)
        loss += shards->parts[i].loss;
    return loss / (double)batch->count;
}

/* Shared by the threads of one update. */
struct update_call {
    const struct shards *shards;
    optimizer_step *step;
    float *parameters, *first_moment, *second_moment;
    const struct step_factors *factors;
    size_t piece; /* parameters in each piece; the last may have fewer */
};

static void update_piece(void *argument, size_t index) {
    const struct update_call *call = argument;
    const struct shards *shards = call->shards;
    size_t all = shards->model->parameter_count, first = index * call->piece;
    size_t count = all - first < call->piece ? all - first : call->piece;
    unsigned denormals = denormals_flush();
    call->step(call->parameters + first, shards->gradients + first, shards->count, all,
               call->first_moment + first, call->second_moment + first, count, call->factors);
    denormals_restore(denormals);
}

void shards_update_parameters(struct shards *shards, enum optimizer_kind optimizer, float *parameters,
                              float *first_moment, float *second_moment, const struct step_factors *factors,
                              const struct parallel_executor *parallel) {
    struct update_call call = {
        shards, shards->kernels->optimizer_steps[optimizer], parameters, first_moment, second_moment, factors,
        0};
    size_t count = shards->model->parameter_count;
    call.piece = (count + UPDATE_PIECES - 1) / UPDATE_PIECES;
    call.piece = (call.piece + PIECE_MULTIPLE - 1) / PIECE_MULTIPLE * PIECE_MULTIPLE;
    run_parts(parallel, (count + call.piece - 1) / call.piece, update_piece, &call);
}

size_t shards_count_correct(struct shards *shards, const float *parameters, const struct shard_batch *batch,
                            const struct run_host *host) {
    struct shard_call call = {shards, parameters, batch, &host->stop, false};
    run_parts(&host->parallel, shards->count, work_on_shard, &call);
    size_t correct = 0;
    for (size_t i = 0; i < shards->count; i++)
        correct += shards->parts[i].correct;
    return correct;
}
