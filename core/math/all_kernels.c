/* The table of one set of lanes: see kernels.h. */
#include "core/math/kernels.h"

#include "core/math/attention_head.h"
#include "core/math/block_kernels.h"
#include "core/math/lanes/lanes.h"
#include "core/math/parameter_kernels.h"
#include "core/math/recurrent_kernels.h"
#include "core/math/score_kernels.h"
#include "core/math/softmax_kernels.h"
#include "core/math/tile_kernels.h"

const struct kernels IN_SET(kernels) = {
    .name = LANES_STRING(LANES_SET),
    .hyperbolic_tangent = IN_SET(hyperbolic_tangent),
    .softmax_rows = IN_EIGHT_LANES(softmax_rows),
    .softmax_rows_backward = IN_EIGHT_LANES(softmax_rows_backward),
    .softmax_rows_backward_shared = IN_EIGHT_LANES(softmax_rows_backward_shared),
    .add_column_sums = IN_EIGHT_LANES(add_column_sums),
    .tanh_backward = IN_SET(tanh_backward),
    .lstm_step = IN_SET(lstm_step),
    .lstm_step_backward = IN_SET(lstm_step_backward),
    .layer_norm_forward = IN_EIGHT_LANES(layer_norm_forward),
    .layer_norm_backward = IN_EIGHT_LANES(layer_norm_backward),
    .add_values = IN_EIGHT_LANES(add_values),
    .relu = IN_EIGHT_LANES(relu),
    .relu_backward = IN_EIGHT_LANES(relu_backward),
    .attention_head_forward = IN_EIGHT_LANES(attention_head_forward),
    .attention_head_backward = IN_EIGHT_LANES(attention_head_backward),
    .tile_softmax = IN_EIGHT_LANES(tile_softmax),
    .tile_weights = IN_EIGHT_LANES(tile_weights),
    .tile_weights_and_means = IN_EIGHT_LANES(tile_weights_and_means),
    .tile_backward = IN_EIGHT_LANES(tile_backward),
    .shared_scores_forward = IN_SET(shared_scores_forward),
    .shared_scores_backward = IN_SET(shared_scores_backward),
    .tilted_moments = IN_SET(tilted_moments),
    .optimizer_steps = {[OPTIMIZER_ADAM] = IN_EIGHT_LANES(adam_step),
                        [OPTIMIZER_ADAMW] = IN_EIGHT_LANES(adamw_step),
                        [OPTIMIZER_SGD] = IN_EIGHT_LANES(sgd_step),
                        [OPTIMIZER_RMSPROP] = IN_EIGHT_LANES(rmsprop_step)},
};
