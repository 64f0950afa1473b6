/* The gradient of the input: see input_gradient.h. Everything is float32 with subnormal numbers, because far
 * from the end of an RNN the gradient consists only of those. */
#include "core/training/input_gradient.h"

#include "core/math/matrix.h"
#include "core/model/loss.h"

#include <math.h>
#include <stdlib.h>

/* The memory of the examples that are taken together. */
struct part {
    struct model_workspace workspace;
    float *grad_logits; /* [at_once][class_count] */
    float *inputs;      /* [at_once][steps]: d loss / d input */
    double *sums;       /* [steps] */
};

static void lay_out(struct part *part, const struct model *model, size_t at_once, struct arena *arena) {
    model_workspace_layout(&part->workspace, model, at_once, true, arena);
    part->grad_logits = arena_floats(arena, at_once * model->class_count);
    part->inputs = arena_floats(arena, at_once * model->input.steps);
    part->sums = arena_allocate(arena, model->input.steps, sizeof *part->sums);
}

static size_t size_of_part(const struct model *model, size_t at_once) {
    struct part sketch;
    struct arena measure = arena_measuring();
    lay_out(&sketch, model, at_once, &measure);
    return measure.used;
}

size_t input_gradient_memory_size(const struct model *model, size_t at_once) {
    size_t part = size_of_part(model, at_once), gradient = model->input.steps * sizeof(float);
    return part > SIZE_MAX - gradient ? SIZE_MAX : part + gradient;
}

/* Returns the sum of the losses of examples `first` to `first + count`. */
static double add_part(struct part *part, const struct input_gradient_request *request, size_t first,
                       size_t count) {
    const struct model *model = request->model;
    size_t steps = model->input.steps;
    struct model_batch batch = {
        .count = count, .values = request->set->values + first * steps, .stop = request->stop};
    const float *logits =
        model_forward(model, request->parameters, &part->workspace, &batch, request->kernels);
    double loss = cross_entropy(logits, request->set->labels + first, count, model->class_count,
                                1 / (float)request->examples, part->grad_logits);
    model_backward(model, request->parameters, &part->workspace, &batch, part->grad_logits, part->inputs,
                   NULL, request->kernels);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < steps; t++)
            part->sums[t] += (double)fabsf(part->inputs[i * steps + t]);
    return loss;
}

bool input_gradient_compute(struct input_gradient *gradient, const struct input_gradient_request *request,
                            struct error *error) {
    size_t steps = request->model->input.steps, examples = request->examples;
    *gradient = (struct input_gradient){.gradient = malloc(steps * sizeof(float))};
    if (gradient->gradient == NULL)
        return error_set_memory(error, steps * sizeof(float));
    struct arena arena;
    if (!arena_init(&arena, size_of_part(request->model, request->at_once), error))
        return false;
    struct part part;
    lay_out(&part, request->model, request->at_once, &arena);
    matrix_use_one_thread();
    bool goes_on = true;
    double loss = 0;
    for (size_t first = 0; first < examples && goes_on; first += request->at_once) {
        size_t left = examples - first, count = left < request->at_once ? left : request->at_once;
        loss += add_part(&part, request, first, count);
        goes_on = stop_check(request->stop, error);
    }
    gradient->loss = (float)(loss / (double)examples);
    for (size_t t = 0; t < steps; t++)
        gradient->gradient[t] = (float)(part.sums[t] / (double)examples);
    arena_free(&arena);
    return goes_on;
}

void input_gradient_free(struct input_gradient *gradient) {
    free(gradient->gradient);
    gradient->gradient = NULL;
}
