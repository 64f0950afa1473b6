/* Attention: chooses the algorithm that computes it, by the cost of each.
 *
 * All algorithms compute softmax(Q K^T / sqrt(D)) V, or without the root (unscaled_scores). They differ in
 * speed, memory and the inputs they accept. Read reference.c first: it follows the formulas, and the tests
 * compare the others with it. T: steps; W: width of the model; H heads of width D = W / H. The time is per
 * example, without the projections' T W^2; the memory is what an example keeps from forward to backward,
 * without its rows' T W.
 *
 *   algorithm             chosen                                               time     memory  file
 *   by the book           never: for tests                                     T^2 W    H T^2   reference.c
 *   every query has an output; chosen head by head:
 *     in registers        T <= 32 and D <= 64                                  T^2 W    H T^2   multi_head.c
 *     with its matrix     T <= 1024                                            T^2 W    H T^2   multi_head.c
 *     in tiles            longer (after FlashAttention)                        T^2 W    H T     tiled_head.c
 *   averaged over the queries, one head; chosen layer by layer:
 *     unplaced            numbers, no position, no mask                        T^2      T       unplaced.c
 *     scalar              other numbers, position not rotated, T <= 1024       T^2      T^2     scalar.c
 *     pooled              tokens or rotated numbers, T <= 1024                 T^2 W    T^2     pooled.c
 *     in tiles            longer                                               T^2 W    T       tiled.c
 *     by the textbook     never: to measure its cost; whole and in tiles       T^2 W            textbook.c
 *
 * They share mask.h, which hides keys, tiles.h, which walks over scores in tiles, and rotation.h, which
 * rotates queries and keys. */
#ifndef ATTNLAB_CORE_LAYERS_ATTENTION_ATTENTION_H
#define ATTNLAB_CORE_LAYERS_ATTENTION_ATTENTION_H

#include "core/layers/layer.h"

/* Attention works in tiles from this many steps on. Below, the weights of an example take at most 4 MB per
 * head, training is faster if they are kept, and a request for the matrix gets all of it. */
enum { TILED_ATTENTION_STEPS = 1025 };

/* The algorithm of one head of attention with an output for every query. */
enum attention_head_algorithm { HEAD_IN_REGISTERS, HEAD_WITH_MATRIX, HEAD_IN_TILES };
enum attention_head_algorithm attention_choose_head(size_t steps, size_t head_width);

/* Whether attention averaged over its queries keeps its matrix. The length of the sequence decides, unless a
 * comparison asks for one of the others; the textbook's have no backward pass. */
enum attention_storage {
    ATTENTION_BY_LENGTH,
    ATTENTION_WITH_MATRIX,
    ATTENTION_IN_TILES,
    ATTENTION_BY_TEXTBOOK,
    ATTENTION_BY_TEXTBOOK_IN_TILES
};

/* The input of attention averaged over its queries. */
struct attention_request {
    size_t steps;
    bool takes_numbers; /* a step is one number; otherwise a token */
    enum attention_mask mask;
    const struct position *position; /* NULL: none */
    enum attention_storage storage;
};

/* Returns the layer for this input. */
const struct layer_type *attention_choose_layer(const struct attention_request *request);

/* Whether that layer reads the numbers themselves. Its tensors then include those of the input projection and
 * of the position; otherwise both are separate layers before it. */
bool attention_includes_input(const struct layer_type *type);

#endif
