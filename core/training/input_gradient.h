/* How much gradient reaches each step of a model's input, as the experiment gradient-reach measures it of
 * untrained models, for a model with given weights. */
#ifndef ATTNLAB_CORE_TRAINING_INPUT_GRADIENT_H
#define ATTNLAB_CORE_TRAINING_INPUT_GRADIENT_H

#include "core/model/model.h"
#include "core/tasks/task.h"

/* The examples are taken in parts whose memory is at most this, if one example's is. */
enum { INPUT_GRADIENT_MEMORY = 16 << 20 };

struct input_gradient {
    size_t examples; /* as many as were asked for, or all */
    double loss;     /* mean cross-entropy over them */
    float *gradient; /* [steps]: the mean over the examples of |d loss / d x_t|; owned */
};

/* Takes the first `examples` of the set. ERROR_CONFLICT if the model reads tokens, which have no gradient;
 * ERROR_TOO_LARGE if one example takes more than INPUT_GRADIENT_MEMORY; ERROR_CANCELLED on a stop request
 * (may be NULL). Free with input_gradient_free. */
bool input_gradient_compute(struct input_gradient *gradient, const struct model *model,
                            const float *parameters, const struct example_set *set, size_t examples,
                            const struct kernels *kernels, const struct stop_request *stop,
                            struct error *error);
void input_gradient_free(struct input_gradient *gradient);

#endif
