/* The code common to the two layers of scalar.h: tensors, padding, arithmetic. */
#include "core/layers/attention/scalar.h"

#include "core/layers/attention/mask.h"
#include "core/layers/attention/pairs.h"
#include "core/layers/linear.h"
#include "core/layers/positions/position.h"
#include "core/math/shared_scores.h"

#include <assert.h>

bool scalar_attention_position_layer(const struct layer *layer, struct layer *position) {
    assert(!position_rotates(layer->options.position));
    if (!position_adds(layer->options.position))
        return false;
    struct layer_shape shape = {layer->input.steps, layer->output.width};
    *position = layer_make(layer->options.position->layer, "", shape, 0, NULL);
    return true;
}

struct scalar_attention_parts scalar_attention_parts_of(const struct layer *layer, const float *parameters) {
    size_t width = layer->output.width, square = width * width;
    float *next = (float *)(uintptr_t)parameters;
    struct scalar_attention_parts parts = {.input_weight = next, .input_bias = next + width};
    next += 2 * width;
    struct layer position;
    if (scalar_attention_position_layer(layer, &position)) {
        parts.positions = next;
        next += position.parameter_count;
    }
    parts.query_weight = next;
    parts.query_bias = parts.query_weight + square;
    parts.key_weight = parts.query_bias + width;
    parts.key_bias = parts.key_weight + square;
    parts.value_weight = parts.key_bias + width;
    parts.value_bias = parts.value_weight + square;
    return parts;
}

size_t scalar_attention_describe(const struct layer *layer, struct tensor tensors[LAYER_MAXIMUM_TENSORS]) {
    static const char *const names[] = {"q.weight", "q.bias", "k.weight", "k.bias", "v.weight", "v.bias"};
    size_t count = 0, width = layer->output.width;
    tensor_describe(tensors, &count, "inp.weight", width, 1);
    tensor_describe(tensors, &count, "inp.bias", width, 0);
    struct layer position;
    if (scalar_attention_position_layer(layer, &position))
        count += layer_tensors(&position, tensors + count);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tensor_describe(tensors, &count, names[i], width, i % 2 == 0 ? width : 0);
    return count;
}

void scalar_attention_initialise(const struct layer *layer, float *parameters,
                                 struct torch_generator *generator) {
    size_t width = layer->output.width;
    struct scalar_attention_parts parts = scalar_attention_parts_of(layer, parameters);
    linear_initialise(parts.input_weight, parts.input_bias, 1, width, generator);
    struct layer position;
    if (scalar_attention_position_layer(layer, &position) && position.type->initialise != NULL)
        position.type->initialise(&position, parts.positions, generator);
    linear_initialise(parts.query_weight, parts.query_bias, width, width, generator);
    linear_initialise(parts.key_weight, parts.key_bias, width, width, generator);
    linear_initialise(parts.value_weight, parts.value_bias, width, width, generator);
}

struct layer_shape scalar_attention_output_shape(struct layer_shape input, size_t width,
                                                 const struct layer_options *options) {
    (void)input;
    (void)options;
    return (struct layer_shape){1, width};
}

bool scalar_attention_is_real(const struct layer *layer, size_t example, size_t step,
                              const struct layer_pass *pass) {
    return pass->present == NULL || pass->present[example * layer->input.steps + step] != 0;
}

size_t scalar_attention_real_steps(const struct layer *layer, size_t example, const struct layer_pass *pass) {
    size_t steps = layer->input.steps;
    return count_present(pass->present == NULL ? NULL : pass->present + example * steps, steps);
}

float scalar_attention_score_scale(const struct layer *layer) {
    return LOG2_OF_E / (float)attention_score_divisor(&layer->options, layer->output.width);
}

float scalar_attention_dot(const float *a, const float *b, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}
