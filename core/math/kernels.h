/* The table of kernels: the inner loops of layers and training, once for every set of instructions.
 *
 * A kernel is written once, over the lanes of core/math/lanes/lanes.h; the Makefile compiles every file
 * *_kernels.c for each set that the compiler's target has: AVX2, AVX-512, NEON, and plain C for every other
 * processor. Which table a machine runs is chosen once, when a model is opened, and handed down as a pointer.
 *
 * A new kernel needs a line here and in all_kernels.c, a declaration and a definition in the two files of its
 * family (recurrent, softmax, parameter, block, tile, score, attention head), and a plain loop in
 * tests/unit/core/math/reference_kernels.c, with which the tests compare every set. A kernel that sums across
 * lanes goes in a file for eight lanes only, so that AVX-512 uses AVX2's and both give the same bits. Only
 * the shared scores and their moments have different bits with AVX-512. */
#ifndef ATTNLAB_CORE_MATH_KERNELS_H
#define ATTNLAB_CORE_MATH_KERNELS_H

#include "core/math/lanes/sets.h"

#include <stdbool.h>
#include <stddef.h>

struct shared_scores; /* core/math/shared_scores.h */
struct norm_rows;
struct attention_head;
struct tile;
struct row_softmax;
struct attention_head_gradients;
struct shared_scores_gradient;

/* See core/model/optimizers.h. */
enum optimizer_kind { OPTIMIZER_ADAM, OPTIMIZER_ADAMW, OPTIMIZER_SGD, OPTIMIZER_RMSPROP, OPTIMIZER_COUNT };

/* The factors of an optimiser's step; an optimiser leaves at 0 what it does not use. */
struct step_factors {
    bool is_first;                   /* SGD: the buffer of its momentum begins as the gradient */
    float first_decay, second_decay; /* of the two moments: Adam's beta_1, beta_2; RMSprop's second: alpha.
                                        SGD's and RMSprop's first: the momentum */
    float first_share, second_share; /* 1 minus the decay */
    float step_size;                 /* learning rate, for Adam / (1 - beta_1^t) */
    float second_correction;         /* sqrt(1 - beta_2^t) */
    float epsilon;
    float weight_decay; /* times the parameter, is added to the gradient */
    float shrinkage;    /* AdamW: the parameter is multiplied by this first */
};

/* One step over `count` parameters. Their gradient is the sum of the columns of gradients[rows][count], whose
 * rows begin `stride` floats apart, in the order of add_column_sums. The moments are [count], 0 before the
 * first step: the mean gradient or the momentum's buffer, and the mean of the gradient's square. */
typedef void optimizer_step(float *parameters, const float *gradients, size_t rows, size_t stride,
                            float *first_moment, float *second_moment, size_t count,
                            const struct step_factors *factors);

struct kernels {
    const char *name; /* of the set of lanes: "avx2" */

    /* In place over `count` floats. */
    void (*hyperbolic_tangent)(float *values, size_t count);

    /* scores[rows][columns] becomes softmax(scale * scores) of each row. -INFINITY gets weight 0; as in
     * PyTorch, a row of nothing else becomes NaN, and so does a row with INFINITY or NaN. */
    void (*softmax_rows)(float *scores, size_t rows, size_t columns, float scale);

    /* gradient[rows][columns], with respect to the softmax's weights, becomes the gradient with respect to
     * the scores: scale * w_ij (g_ij - sum_k w_ik g_ik). */
    void (*softmax_rows_backward)(const float *weights, float *gradient, size_t rows, size_t columns,
                                  float scale);

    /* The same if every row has the same gradient[columns]; overwrites weights with the result. */
    void (*softmax_rows_backward_shared)(float *weights, const float *gradient, size_t rows, size_t columns,
                                         float scale);

    /* sums[columns] += the sum over the rows of matrix[rows][columns]. */
    void (*add_column_sums)(const float *matrix, size_t rows, size_t columns, float *sums);

    /* result_i = gradient_i (1 - y_i^2): through y = tanh(x). result may be gradient. */
    void (*tanh_backward)(const float *y, const float *gradient, float *result, size_t count);

    /* One step of an LSTM for `rows` examples. gates[rows][4][width] holds the sums that go into the gates
     * i, f, g, o and becomes their values; cell_before (NULL: zero), cell, cell_tanh (the tanh of cell) and
     * hidden are [rows][width]. */
    void (*lstm_step)(float *gates, const float *cell_before, float *cell, float *cell_tanh, float *hidden,
                      size_t rows, size_t width);

    /* Back through one step. gates becomes the gradient with respect to the sums. grad_cell is the gradient
     * of `cell` from the later step and becomes that of cell_before. */
    void (*lstm_step_backward)(float *gates, const float *cell_before, const float *cell_tanh,
                               const float *grad_hidden, float *grad_cell, size_t rows, size_t width);

    /* See core/math/block_kernels.h. */
    void (*layer_norm_forward)(const struct norm_rows *rows, float *output);
    void (*layer_norm_backward)(const struct norm_rows *rows, const float *grad_output, float *grad_input,
                                float *grad_weight, float *grad_bias);
    void (*add_values)(float *sum, const float *values, size_t count);
    void (*relu)(const float *input, float *output, size_t count);
    void (*relu_backward)(const float *values, const float *gradient, float *result, size_t count);

    /* See core/math/attention_head.h. */
    void (*attention_head_forward)(const struct attention_head *head, float *weights, float *context);
    void (*attention_head_backward)(const struct attention_head *head, const float *weights,
                                    const struct attention_head_gradients *gradients);

    /* See core/math/tile_kernels.h. */
    void (*tile_softmax)(const struct tile *tile, float *largest, float *sums);
    void (*tile_weights)(const struct tile *tile, const struct row_softmax *rows);
    void (*tile_weights_and_means)(const struct tile *tile, const struct row_softmax *rows,
                                   const float *gradient, size_t gradient_stride, float *means);
    void (*tile_backward)(const struct tile *tile, const float *gradient, size_t gradient_stride,
                          const float *means);

    /* Softmax, in base 2, of the scores of an example x[stride] (zero from T on): w_ij =
     * exponentials[T][stride] * inverse_sums[T] (0 if the query sees no key); share[stride] becomes sum_i
     * w_ij.
     */
    void (*shared_scores_forward)(const struct shared_scores *scores, const float *x, float *exponentials,
                                  float *inverse_sums, float *share);

    /* Back from grad_share[stride], which is the same for every query: ds_ij = w_ij (g_j - sum_k w_ik g_k).
     * grad_share must include the factor ln 2 of base 2. Adds to all parts of gradient. */
    void (*shared_scores_backward)(const struct shared_scores *scores, const float *x,
                                   const float *exponentials, const float *inverse_sums,
                                   const float *grad_share, struct shared_scores_gradient *gradient);

    /* Computes, for each tilt, the mean and variance of values[count] under weights proportional to
     * 2^(tilts[i] values_j) ("exponential tilting"). means and variances are [tilt_count]. */
    void (*tilted_moments)(const float *values, size_t count, const float *tilts, size_t tilt_count,
                           float *means, float *variances);

    /* Indexed by enum optimizer_kind. */
    optimizer_step *optimizer_steps[OPTIMIZER_COUNT];
};

/* The table of the set of lanes that this process runs: the fastest, or the one that was selected
 * (core/math/lanes/sets.h). */
const struct kernels *kernels_choose(void);

/* kernels_plain, kernels_avx2, kernels_avx512 and kernels_neon, as far as the compiler's target has them.
 * lanes/sets.h tells which of them this processor can run. */
#define DECLARE_KERNELS(set) extern const struct kernels kernels_##set;
FOR_EVERY_SET(DECLARE_KERNELS)

#endif
