/* The mean over the present steps: see masked_mean.h. */
#include "core/layers/masked_mean.h"

#include <string.h>

static struct layer_shape output_shape(struct layer_shape input, size_t width,
                                       const struct layer_options *options) {
    (void)width;
    (void)options;
    return (struct layer_shape){1, input.width};
}

static bool is_present(const struct layer_pass *pass, size_t step) {
    return pass->present == NULL || pass->present[step] != 0;
}

/* The number of steps present in one example, but at least 1. */
static size_t divisor_of(const struct layer_pass *pass, size_t first_step, size_t steps) {
    size_t present = 0;
    for (size_t t = 0; t < steps; t++)
        present += is_present(pass, first_step + t);
    return present > 0 ? present : 1;
}

static void forward(const struct layer *layer, const float *parameters, const float *input, float *output,
                    float *saved, const struct layer_pass *pass) {
    (void)parameters;
    (void)saved;
    size_t steps = layer->input.steps, width = layer->input.width;
    memset(output, 0, pass->count * width * sizeof *output);
    for (size_t i = 0; i < pass->count; i++) {
        float *mean = output + i * width;
        for (size_t t = 0; t < steps; t++)
            if (is_present(pass, i * steps + t))
                pass->kernels->add_values(mean, input + (i * steps + t) * width, width);
        float divisor = (float)divisor_of(pass, i * steps, steps);
        for (size_t j = 0; j < width; j++)
            mean[j] /= divisor;
    }
}

static void backward(const struct layer *layer, const float *parameters, const float *input,
                     const float *output, float *saved, float *grad_output, float *grad_input,
                     float *grad_parameters, const struct layer_pass *pass) {
    (void)parameters;
    (void)input;
    (void)output;
    (void)saved;
    (void)grad_parameters;
    size_t steps = layer->input.steps, width = layer->input.width;
    for (size_t i = 0; grad_input != NULL && i < pass->count; i++) {
        float divisor = (float)divisor_of(pass, i * steps, steps), *mean = grad_output + i * width;
        for (size_t j = 0; j < width; j++)
            mean[j] /= divisor;
        for (size_t t = 0; t < steps; t++) {
            float *row = grad_input + (i * steps + t) * width;
            if (is_present(pass, i * steps + t))
                memcpy(row, mean, width * sizeof *row);
            else
                memset(row, 0, width * sizeof *row);
        }
    }
}

const struct layer_type layer_masked_mean = {
    .name = "masked mean",
    .output_shape = output_shape,
    .forward = forward,
    .backward = backward,
};
