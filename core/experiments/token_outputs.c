/* The outputs of attention's tokens: see token_outputs.h. */
#include "core/experiments/token_outputs.h"

#include "core/layers/linear.h"
#include "core/layers/positions/position.h"
#include "core/math/matrix.h"

#include <string.h>

size_t token_outputs_width(const struct model *model) {
    return model->layers[drawn_model_main_layer(model)].output.width;
}

void token_outputs_lay_out(struct token_outputs *tokens, const struct model *model, struct arena *arena) {
    size_t steps = model->input.steps, width = token_outputs_width(model);
    tokens->hidden = arena_floats(arena, steps * width);
    tokens->values = arena_floats(arena, steps * width);
    tokens->weights = arena_floats(arena, steps * steps);
    tokens->outputs = arena_floats(arena, steps * width);
}

/* Returns the parameters of the tensor, or NULL if the model has none of that name. */
static const float *find_tensor(const struct drawn_model *model, const char *name) {
    struct tensor tensors[MODEL_MAXIMUM_TENSORS];
    size_t count = model_tensors(&model->model, tensors);
    for (size_t i = 0; i < count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return model->parameters + tensors[i].offset;
    return NULL;
}

static void compute_hidden(struct token_outputs *tokens, const struct drawn_model *model,
                           const struct position *position, const float *values) {
    size_t steps = model->model.input.steps, width = token_outputs_width(&model->model);
    linear_forward(find_tensor(model, "inp.weight"), find_tensor(model, "inp.bias"), values, tokens->hidden,
                   steps, 1, width);
    if (!position_adds(position))
        return;
    struct layer layer = layer_make(position->layer, "", (struct layer_shape){steps, width}, 0, NULL);
    /* The outputs are not there yet. */
    struct layer_pass pass = {
        .kernels = model->kernels, .count = 1, .scratch = tokens->outputs, .stop = model->stop};
    position->layer->forward(&layer, find_tensor(model, "pos"), tokens->hidden, tokens->values, NULL, &pass);
    memcpy(tokens->hidden, tokens->values, steps * width * sizeof *tokens->hidden);
}

void token_outputs_compute(struct token_outputs *tokens, struct drawn_model *model,
                           const struct position *position, const float *values) {
    size_t steps = model->model.input.steps, width = token_outputs_width(&model->model);
    struct model_batch batch = {.count = 1, .values = values, .stop = model->stop};
    drawn_model_forward(model, values, 1);
    model_attention(&model->model, model->parameters, &model->workspace, &batch, 0, tokens->weights,
                    model->kernels);
    compute_hidden(tokens, model, position, values);
    linear_forward(find_tensor(model, "v.weight"), find_tensor(model, "v.bias"), tokens->hidden,
                   tokens->values, steps, width, width);
    matrix_multiply(steps, width, steps, 1, tokens->weights, steps, tokens->values, width, 0, tokens->outputs,
                    width);
}

double token_outputs_operations(const struct model *model) {
    double steps = (double)model->input.steps, width = (double)token_outputs_width(model);
    return 2 * steps * width * (steps + width + 2) + 40 * steps * steps + 4 * steps * steps * width;
}
