/* The gradient of the input: see input_gradient.h. Subnormal numbers are kept, because far from the end of an
 * RNN the gradient consists only of those. */
#include "core/training/input_gradient.h"

#include "core/math/matrix.h"
#include "core/model/loss.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_AT_ONCE = 64 };

/* The memory of one part. */
struct part {
    size_t capacity;
    struct model_workspace workspace;
    float *grad_logits; /* [capacity][class_count] */
    float *inputs;      /* [capacity][steps]: d loss / d input */
    double *sums;       /* [steps] */
};

static void lay_out(struct part *part, const struct model *model, struct arena *arena) {
    model_workspace_layout(&part->workspace, model, part->capacity, true, arena);
    part->grad_logits = arena_floats(arena, part->capacity * model->class_count);
    part->inputs = arena_floats(arena, part->capacity * model->input.steps);
    part->sums = arena_allocate(arena, model->input.steps, sizeof *part->sums);
}

static size_t size_of(size_t capacity, const struct model *model) {
    struct part sketch = {.capacity = capacity};
    struct arena measure = arena_measuring();
    lay_out(&sketch, model, &measure);
    return measure.used;
}

/* As many examples as fit; 0 if not even one does. */
static size_t choose_capacity(const struct model *model, size_t examples) {
    size_t capacity = examples < MOST_AT_ONCE ? examples : MOST_AT_ONCE;
    while (capacity > 0 && size_of(capacity, model) > INPUT_GRADIENT_MEMORY)
        capacity /= 2;
    return capacity;
}

static double add_part(struct part *part, const struct model *model, const float *parameters,
                       const struct model_batch *batch, const int32_t *labels, float scale,
                       const struct kernels *kernels) {
    size_t steps = model->input.steps;
    const float *logits = model_forward(model, parameters, &part->workspace, batch, kernels);
    double loss = cross_entropy(logits, labels, batch->count, model->class_count, scale, part->grad_logits);
    model_backward(model, parameters, &part->workspace, batch, part->grad_logits, part->inputs, NULL,
                   kernels);
    for (size_t i = 0; i < batch->count; i++)
        for (size_t t = 0; t < steps; t++)
            part->sums[t] += (double)fabsf(part->inputs[i * steps + t]);
    return loss;
}

bool input_gradient_compute(struct input_gradient *gradient, const struct model *model,
                            const float *parameters, const struct example_set *set, size_t examples,
                            const struct kernels *kernels, const struct stop_request *stop,
                            struct error *error) {
    size_t steps = model->input.steps;
    *gradient = (struct input_gradient){.examples = examples < set->count ? examples : set->count};
    if (model->reads_tokens)
        return error_set(error, ERROR_CONFLICT, "words have no gradient; only tasks of numbers do");
    struct part part = {.capacity = choose_capacity(model, gradient->examples)};
    if (part.capacity == 0)
        return error_set(error, ERROR_TOO_LARGE,
                         "the gradient of one example takes %.1f MB; at most %.1f MB are allowed",
                         (double)size_of(1, model) / 1e6, INPUT_GRADIENT_MEMORY / 1e6);
    gradient->gradient = malloc(steps * sizeof *gradient->gradient);
    if (gradient->gradient == NULL)
        return error_set_memory(error, steps * sizeof *gradient->gradient);
    struct arena arena;
    if (!arena_init(&arena, size_of(part.capacity, model), error))
        return false;
    lay_out(&part, model, &arena);
    bool done = true;
    matrix_use_one_thread();
    for (size_t first = 0; first < gradient->examples && done; first += part.capacity) {
        size_t left = gradient->examples - first, count = left < part.capacity ? left : part.capacity;
        struct model_batch batch = {.count = count, .values = set->values + first * steps, .stop = stop};
        gradient->loss += add_part(&part, model, parameters, &batch, set->labels + first,
                                   1 / (float)gradient->examples, kernels);
        done = stop_check(stop, error);
    }
    gradient->loss /= (double)gradient->examples;
    for (size_t t = 0; t < steps && done; t++)
        gradient->gradient[t] = (float)(part.sums[t] / (double)gradient->examples);
    arena_free(&arena);
    return done;
}

void input_gradient_free(struct input_gradient *gradient) {
    free(gradient->gradient);
    gradient->gradient = NULL;
}
