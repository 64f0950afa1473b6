/* Initial values as PyTorch's modules draw them.
 *
 * Each function fills the arrays of one torch.nn module in the order in which the module's constructor draws,
 * so that a model whose layers are created in PyTorch's order starts with PyTorch's bits. Arrays are
 * row-major in PyTorch's shapes. Layer normalisation draws nothing (weight 1, bias 0) and has no function
 * here. */
#ifndef ATTNLAB_CORE_RANDOM_TORCH_INIT_H
#define ATTNLAB_CORE_RANDOM_TORCH_INIT_H

#include "core/random/torch_random.h"

#include <stddef.h>
#include <stdint.h>

/* nn.Linear(inputs, outputs): weight[outputs][inputs], then bias[outputs]; both uniform within 1 /
 * sqrt(inputs) (He et al. 2015, with PyTorch's a = sqrt 5). A NULL `bias` means bias=False. */
void torch_init_linear(struct torch_generator *generator, size_t inputs, size_t outputs, float *weight,
                       float *bias);

/* One layer, one direction, of nn.RNN (one gate), nn.LSTM (four) or a layer of that form with other gates:
 * weight_ih[gates * hidden][inputs], weight_hh[gates * hidden][hidden], bias_ih[gates * hidden],
 * bias_hh[gates * hidden], in this order, all uniform within 1 / sqrt(hidden). */
void torch_init_recurrent(struct torch_generator *generator, size_t gates, size_t inputs, size_t hidden,
                          float *weight_ih, float *weight_hh, float *bias_ih, float *bias_hh);

#define TORCH_NO_PADDING SIZE_MAX

/* nn.Embedding(rows, width, padding_idx=padding_row): weight[rows][width], standard normal; the padding row's
 * values are drawn and then set to zero. */
void torch_init_embedding(struct torch_generator *generator, size_t rows, size_t width, size_t padding_row,
                          float *weight);

/* nn.MultiheadAttention(width, any number of heads): in_proj_weight[3 * width][width] (query, key, value) is
 * uniform within sqrt(6 / (4 width)) (Glorot and Bengio 2010), out_proj_weight[width][width] as in nn.Linear,
 * in_proj_bias[3 * width] and out_proj_bias[width] are zero. The output projection is drawn first, with a
 * bias that PyTorch draws and discards. */
void torch_init_multihead_attention(struct torch_generator *generator, size_t width, float *in_proj_weight,
                                    float *in_proj_bias, float *out_proj_weight, float *out_proj_bias);

/* Learned positions: torch.randn(1, length, width) * scale, values[length][width]. `scale` multiplies in
 * float32 after the draw, as the Python expression does. */
void torch_init_positions(struct torch_generator *generator, size_t length, size_t width, double scale,
                          float *values);

#endif
