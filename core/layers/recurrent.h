/* Recurrent layers like those of torch.nn (nn.RNN, nn.LSTM, ...), with one layer and zero initial state.
 *
 * The output is the hidden state after the last real step, [count][1][width] (PyTorch's h_n); in a padded
 * example that is the step before the padding. Internally everything is time-major, [steps][count][...], so
 * that each step reads one block. One product computes the input's part of all steps before the time loop.
 * Tensors: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, with their rows stacked gate by gate. */
#ifndef ATTNLAB_CORE_LAYERS_RECURRENT_H
#define ATTNLAB_CORE_LAYERS_RECURRENT_H

#include "core/layers/layer.h"

/* All recurrent layers. The word is the name of the model in the API, and the layer type is `layer_` plus the
 * word. Each has a file in this folder; core/model/models.c builds the model of that name from it. */
#define RECURRENT_TABLE(ENTRY)                                                                               \
    ENTRY(rnn)                                                                                               \
    ENTRY(lstm)                                                                                              \
    ENTRY(gru)

#define RECURRENT_DECLARE(name) extern const struct layer_type layer_##name;
RECURRENT_TABLE(RECURRENT_DECLARE)
#undef RECURRENT_DECLARE

/* Common functions. `rows` is the height of the weight matrices: gates * width. */

/* The parts of a recurrent layer's parameters, or of their gradient. */
struct recurrent_parameters {
    size_t inputs, width, rows;
    const float *weight_ih; /* [rows][inputs] */
    const float *weight_hh; /* [rows][width] */
    const float *bias_ih;   /* [rows] */
    const float *bias_hh;   /* [rows] */
    /* recurrent_input_sums adds b_hh to this many rows, the first ones. By default these are all rows; a
     * layer that needs W_hh h + b_hh by itself sets fewer and adds the rest. */
    size_t joined_rows;
};
struct recurrent_parameters recurrent_parameters_of(const struct layer *layer, const float *parameters,
                                                    size_t rows);

struct layer_shape recurrent_output_shape(struct layer_shape input, size_t width,
                                          const struct layer_options *options);
size_t recurrent_describe(const struct layer *layer, struct tensor *tensors, size_t rows);
void recurrent_initialise(const struct layer *layer, float *parameters, size_t gates,
                          struct torch_generator *generator);

/* The floats that the functions below need at the start of pass->scratch. */
size_t recurrent_scratch_size(const struct layer *layer, size_t rows, size_t count);

/* Computes sums[steps][count][rows] = W_ih x_t + b_ih, plus b_hh in the joined rows. Returns W_hh transposed,
 * [width][rows], for the products of the time loop; it lies in the scratch. */
const float *recurrent_input_sums(const struct layer *layer, const struct recurrent_parameters *parameters,
                                  const float *input, float *sums, const struct layer_pass *pass);

/* Computes the gradients of all parameters and of the input. grad_sums[steps][count][rows] is the gradient of
 * W_ih x + b_ih, grad_hidden_sums that of W_hh h + b_hh. If all rows are joined, both are the same array;
 * otherwise they must agree in the joined rows. The hidden states are hidden[steps][count][width]. */
void recurrent_backward_products(const struct layer *layer, const struct recurrent_parameters *parameters,
                                 const float *input, const float *hidden, const float *grad_sums,
                                 const float *grad_hidden_sums, float *grad_input, float *grad_parameters,
                                 const struct layer_pass *pass);

/* The first reads output[count][width] from hidden[steps][count][width]. The second propagates the gradient
 * back: it adds to grad_hidden[count][width] for the examples whose last step is `step`. */
void recurrent_read_last(const struct layer *layer, const float *hidden, float *output,
                         const struct layer_pass *pass);
void recurrent_add_last_gradient(const struct layer *layer, size_t step, const float *grad_output,
                                 float *grad_hidden, const struct layer_pass *pass);

#endif
