/* Attention: which algorithm computes it, when, and what it costs.
 *
 * All compute softmax(Q K^T / sqrt(D)) V and differ in speed, memory and what they can be given. Read
 * reference.c first: it does so by the book, and the others are tested against it. T: steps; W: width of the
 * model; H heads of width D = W / H. Time is that of an example beside its projections, T W^2; memory is what
 * an example keeps from forward to backward beside its rows, T W.
 *
 *   algorithm             chosen                                               time     memory  file
 *   by the book           never: for tests                                     T^2 W    H T^2   reference.c
 *   every query has an output; chosen head by head:
 *     in registers        T <= 32 and D <= 64                                  T^2 W    H T^2   multi_head.c
 *     with its matrix     T <= 1024                                            T^2 W    H T^2   multi_head.c
 *     in tiles            longer (FlashAttention)                              T^2 W    H T     tiled_head.c
 *   averaged over the queries, one head; chosen layer by layer:
 *     unplaced            numbers, no position, no mask                        T^2      T       unplaced.c
 *     scalar              other numbers, position not rotated, T <= 1024       T^2      T^2     scalar.c
 *     pooled              tokens or rotated numbers, T <= 1024                 T^2 W    T^2     pooled.c
 *     in tiles            longer                                               T^2 W    T       tiled.c
 *
 * Beside them: mask.h hides keys, tiles.h walks over scores in tiles, rotation.h turns queries and keys. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_ATTENTION_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_ATTENTION_H

#include "core/layers/layer.h"

/* Steps from which attention works in tiles. Below, all weights of an example are at most 4 MB a head, a step
 * is faster with them kept, and whoever asks for the matrix gets it whole. */
enum { TILED_ATTENTION_STEPS = 1025 };

/* How one head of attention with an output for every query is computed. */
enum attention_head_algorithm { HEAD_IN_REGISTERS, HEAD_WITH_MATRIX, HEAD_IN_TILES };
enum attention_head_algorithm attention_choose_head(size_t steps, size_t head_width);

/* Whether attention averaged over its queries keeps its matrix: by the length of the sequence, or as told,
 * for comparing the two. */
enum attention_storage { ATTENTION_BY_LENGTH, ATTENTION_WITH_MATRIX, ATTENTION_IN_TILES };

/* What attention averaged over its queries is to be computed from. */
struct attention_request {
    size_t steps;
    bool takes_numbers; /* a step is one number; else a token */
    enum attention_mask mask;
    const struct position *position; /* NULL: none */
    enum attention_storage storage;
};

/* The layer for it. */
const struct layer_type *attention_choose_layer(const struct attention_request *request);

/* Whether that layer takes the numbers themselves: its tensors then include those of the input's projection
 * and of the position. Else both are layers before it. */
bool attention_includes_input(const struct layer_type *type);

#endif
