/* Initial values as PyTorch's modules draw them: see torch_init.h. The bounds are doubles, as in
 * torch.nn.init, and become float32 inside torch_uniform. */
#include "core/random/torch_init.h"

#include <math.h>
#include <string.h>

static void fill_symmetric(struct torch_generator *generator, float *values, size_t count, double bound) {
    torch_uniform(generator, values, count, -bound, bound);
}

void torch_init_linear(struct torch_generator *generator, size_t inputs, size_t outputs, float *weight,
                       float *bias) {
    double bound = 1.0 / sqrt((double)inputs);
    fill_symmetric(generator, weight, outputs * inputs, bound);
    if (bias != NULL)
        fill_symmetric(generator, bias, outputs, bound);
}

void torch_init_recurrent(struct torch_generator *generator, size_t gates, size_t inputs, size_t hidden,
                          float *weight_ih, float *weight_hh, float *bias_ih, float *bias_hh) {
    double bound = 1.0 / sqrt((double)hidden);
    size_t rows = gates * hidden;
    fill_symmetric(generator, weight_ih, rows * inputs, bound);
    fill_symmetric(generator, weight_hh, rows * hidden, bound);
    fill_symmetric(generator, bias_ih, rows, bound);
    fill_symmetric(generator, bias_hh, rows, bound);
}

void torch_init_embedding(struct torch_generator *generator, size_t rows, size_t width, size_t padding_row,
                          float *weight) {
    torch_normal(generator, weight, rows * width, 0.0, 1.0);
    if (padding_row < rows)
        memset(weight + padding_row * width, 0, width * sizeof *weight);
}

void torch_init_multihead_attention(struct torch_generator *generator, size_t width, float *in_proj_weight,
                                    float *in_proj_bias, float *out_proj_weight, float *out_proj_bias) {
    torch_init_linear(generator, width, width, out_proj_weight, out_proj_bias);
    memset(out_proj_bias, 0, width * sizeof *out_proj_bias);
    fill_symmetric(generator, in_proj_weight, 3 * width * width, sqrt(6.0 / (4.0 * (double)width)));
    memset(in_proj_bias, 0, 3 * width * sizeof *in_proj_bias);
}

void torch_init_positions(struct torch_generator *generator, size_t length, size_t width, double scale,
                          float *values) {
    size_t count = length * width;
    torch_normal(generator, values, count, 0.0, 1.0);
    for (size_t i = 0; i < count; i++)
        values[i] *= (float)scale;
}
