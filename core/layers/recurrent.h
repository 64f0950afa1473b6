/* Recurrent layers as torch.nn has them (nn.RNN, nn.LSTM, ...), with one layer, from zero initial state.
 *
 * They hand on the hidden state after the last real step, [count][1][width] (PyTorch's h_n): if an example is
 * padded, that is the step before the padding. Inside, everything is time-major, [steps][count][...], so that
 * each step reads one block; one product computes the input's part of all steps before the time loop starts.
 * Tensors: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, their rows stacked gate by gate. */
#ifndef ATTNLAB_CORE_LAYERS_RECURRENT_H
#define ATTNLAB_CORE_LAYERS_RECURRENT_H

#include "core/layers/layer.h"
#include "core/random/torch_init.h"

/* Every recurrent layer: the word is its model's name in the API, and what follows `layer_`. Each has a file
 * in this folder; the model of that name is made of it (core/model/models.c). */
#define RECURRENT_TABLE(ENTRY)                                                                               \
    ENTRY(rnn)                                                                                               \
    ENTRY(lstm)                                                                                              \
    ENTRY(gru)

#define RECURRENT_DECLARE(name) extern const struct layer_type layer_##name;
RECURRENT_TABLE(RECURRENT_DECLARE)
#undef RECURRENT_DECLARE

/* What they share; `rows` is the height of the weight matrices: gates * width. */

/* The parts of a recurrent layer's parameters, or of their gradient. */
struct recurrent_parameters {
    size_t inputs, width, rows;
    const float *weight_ih; /* [rows][inputs] */
    const float *weight_hh; /* [rows][width] */
    const float *bias_ih;   /* [rows] */
    const float *bias_hh;   /* [rows] */
    /* b_hh of the first so many rows is added by recurrent_input_sums: of all of them, unless a layer that
     * needs W_hh h + b_hh by itself sets fewer and adds the rest. */
    size_t joined_rows;
};
struct recurrent_parameters recurrent_parameters_of(const struct layer *layer, const float *parameters,
                                                    size_t rows);

struct layer_shape recurrent_output_shape(struct layer_shape input, size_t width,
                                          const struct layer_options *options);
size_t recurrent_describe(const struct layer *layer, struct tensor *tensors, size_t rows);
void recurrent_initialise(const struct layer *layer, float *parameters, size_t gates,
                          struct torch_generator *generator);

/* Scratch that the functions below need, in floats; it lies at the front of pass->scratch. */
size_t recurrent_scratch_size(const struct layer *layer, size_t rows, size_t count);

/* sums[steps][count][rows] = W_ih x_t + b_ih, and + b_hh in the joined rows. Returns W_hh transposed,
 * [width][rows], in the scratch: what the products of the time loop read. */
const float *recurrent_input_sums(const struct layer *layer, const struct recurrent_parameters *parameters,
                                  const float *input, float *sums, const struct layer_pass *pass);

/* The gradients of all parameters and of the input. grad_sums[steps][count][rows] belongs to W_ih x + b_ih,
 * grad_hidden_sums to W_hh h + b_hh, which is the same array unless fewer rows are joined; then the rows that
 * are must agree. hidden[steps][count][width]. */
void recurrent_backward_products(const struct layer *layer, const struct recurrent_parameters *parameters,
                                 const float *input, const float *hidden, const float *grad_sums,
                                 const float *grad_hidden_sums, float *grad_input, float *grad_parameters,
                                 const struct layer_pass *pass);

/* The last real step of an example; 0 where all is padding. */
size_t recurrent_last_step(const struct layer *layer, size_t example, const struct layer_pass *pass);

/* output[count][width] from hidden[steps][count][width], and the gradient's way back: adds to
 * grad_hidden[count][width] where `step` is an example's last. */
void recurrent_read_last(const struct layer *layer, const float *hidden, float *output,
                         const struct layer_pass *pass);
void recurrent_add_last_gradient(const struct layer *layer, size_t step, const float *grad_output,
                                 float *grad_hidden, const struct layer_pass *pass);

#endif
