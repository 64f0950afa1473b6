/* An untrained model with all its memory, and drawn examples to run it on.
 *
 * Several experiments construct a named model as PyTorch does (width 32 unless another is asked for, two
 * classes, one number per step) and run it over examples of the first-element task without training. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_DRAWN_MODEL_H
#define ATTNLAB_CORE_EXPERIMENTS_DRAWN_MODEL_H

#include "core/experiments/run_cost.h"
#include "core/model/models.h"
#include "core/random/torch_random.h"
#include "core/tasks/task.h"

struct drawn_model_request {
    const char *name; /* as in models.h: "attention" */
    size_t width;     /* 0: the chapter's, 32 */
    size_t steps;
    size_t examples; /* per call */
    const struct position *position;
    enum attention_storage storage;
    bool with_gradients;
    const struct stop_request *stop; /* borrowed by the model; NULL: never */
};

struct drawn_model {
    struct model model;
    struct model_workspace workspace;
    float *parameters; /* [model.parameter_count] */
    const struct kernels *kernels;
    const struct stop_request *stop;
    struct arena arena; /* owned; holds parameters and workspace */
};

/* Builds only the model, which owns no memory. */
struct model drawn_model_build(const struct drawn_model_request *request);

/* Returns the index of its recurrent or attention layer: the last but one, before the map to the classes. Not
 * for a transformer. */
size_t drawn_model_main_layer(const struct model *model);

/* The bytes that drawn_model_open would allocate; SIZE_MAX if that overflows. */
size_t drawn_model_size(const struct drawn_model_request *request);

/* Adds to the cost: the drawing of the model, and so many forward passes over the request's examples. Not the
 * memory, because models may be open one after the other or together. */
void drawn_model_add_work(const struct drawn_model_request *request, double passes, struct run_cost *cost);
/* Adds to the cost: the drawn examples. */
void drawn_examples_add_cost(size_t count, size_t steps, struct run_cost *cost);

/* Allocates the memory and draws the parameters from `generator`. Close it even after a failure. */
bool drawn_model_open(struct drawn_model *model, const struct drawn_model_request *request,
                      struct torch_generator *generator, struct error *error);
void drawn_model_close(struct drawn_model *model);

/* Returns the logits [count][2] of values[count][steps]. The model owns them; they are valid until its next
 * call, and meaningless after a stop. */
const float *drawn_model_forward(struct drawn_model *model, const float *values, size_t count);

/* Draws examples of first-element with numpy's default_rng(seed) into the task's training split. Free with
 * task_free. */
struct task *drawn_examples_open(size_t count, size_t steps, uint64_t seed, struct error *error);

#endif
