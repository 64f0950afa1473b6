/* The outputs of attention's tokens before the chapter's model averages them.
 *
 *   h_j = W_in x_j + b_in + position_j,  V_j = W_v h_j + b_v,  output_i = sum_j w_ij V_j
 *
 * The weights w are those of the model itself, whatever algorithm it uses. */
#ifndef ATTNLAB_CORE_EXPERIMENTS_TOKEN_OUTPUTS_H
#define ATTNLAB_CORE_EXPERIMENTS_TOKEN_OUTPUTS_H

#include "core/experiments/drawn_model.h"

struct token_outputs {
    float *hidden, *values; /* [steps][width] */
    float *weights;         /* [steps][steps] */
    float *outputs;         /* [steps][width] */
};

/* The numbers of a token's output. */
size_t token_outputs_width(const struct model *model);

/* Takes the memory for a model "attention" from `arena`, which may be a measuring arena. */
void token_outputs_lay_out(struct token_outputs *tokens, const struct model *model, struct arena *arena);

/* Computes the outputs for one example, values[steps]. */
void token_outputs_compute(struct token_outputs *tokens, struct drawn_model *model,
                           const struct position *position, const float *values);

/* The operations of token_outputs_compute beyond the model's forward pass. */
double token_outputs_operations(const struct model *model);

#endif
