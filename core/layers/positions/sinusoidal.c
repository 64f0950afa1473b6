/* Fixed positions: see sinusoidal.h. */
#include "core/layers/positions/sinusoidal.h"

#include "core/layers/positions/position.h"

#include <math.h>

/* Writes positions[steps][width]. */
static void fill_positions(float *positions, size_t steps, size_t width) {
    for (size_t j = 0; j < width; j++) {
        double frequency = pow(10000, -(double)(j - j % 2) / (double)width);
        for (size_t t = 0; t < steps; t++) {
            double angle = (double)t * frequency;
            positions[t * width + j] = (float)(j % 2 == 0 ? sin(angle) : cos(angle));
        }
    }
}

static size_t scratch_size(const struct layer *layer, size_t count) {
    (void)count;
    return layer->input.steps * layer->input.width;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    (void)parameters;
    (void)saved;
    size_t size = layer->input.steps * layer->input.width;
    fill_positions(pass->scratch, layer->input.steps, layer->input.width);
    for (size_t i = 0; i < pass->count; i++)
        for (size_t j = 0; j < size; j++)
            output[i * size + j] = input[i * size + j] + pass->scratch[j];
}

const struct layer_type layer_sinusoidal_positions = {
    .name = "sinusoidal positions",
    .output_shape = layer_same_shape,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = layer_copy_backward,
};

const struct position position_sinusoidal = {
    .name = "sinusoidal",
    .layer = &layer_sinusoidal_positions,
};
