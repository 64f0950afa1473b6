/* How much gradient reaches each step of a model's input: of fresh weights for the experiment gradient-reach,
 * of trained ones for an inspection. */
#ifndef ATTNLAB_CORE_TRAINING_INPUT_GRADIENT_H
#define ATTNLAB_CORE_TRAINING_INPUT_GRADIENT_H

#include "core/model/model.h"
#include "core/tasks/task.h"

struct input_gradient_request {
    const struct model *model;
    const float *parameters;       /* [model->parameter_count] */
    const struct example_set *set; /* numbers */
    size_t examples;               /* the first ones of the set; at most as many as it has, at least 1 */
    size_t at_once;                /* that pass through the model together; at least 1 */
    const struct kernels *kernels;
    const struct stop_request *stop; /* may be NULL */
};

struct input_gradient {
    float loss;      /* mean cross-entropy over the examples */
    float *gradient; /* [steps]: the mean over the examples of |d loss / d x_t|; owned */
};

/* How many examples are taken together if there is memory for them. */
enum { INPUT_GRADIENT_AT_ONCE = 64 };

/* The bytes that input_gradient_compute takes. */
size_t input_gradient_memory_size(const struct model *model, size_t at_once);

/* ERROR_MEMORY, or ERROR_CANCELLED on a stop request. Free with input_gradient_free, even after a failure. */
bool input_gradient_compute(struct input_gradient *gradient, const struct input_gradient_request *request,
                            struct error *error);
void input_gradient_free(struct input_gradient *gradient);

#endif
