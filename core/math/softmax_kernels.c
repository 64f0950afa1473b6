/* Softmax of whole rows and its backward pass, over lanes: see softmax_kernels.h. Rows and tails shorter than
 * a vector are loaded and stored in part, so that no value depends on its place in memory. Eight lanes only,
 * because the order of a row's sum affects its bits. */
#include "core/math/softmax_kernels.h"

#include "core/math/lanes/elementary.h"

#if LANES == 8

#include <math.h>

static float largest_of(const float *row, size_t columns, lanes_part tail) {
    lanes largest = lanes_broadcast(-INFINITY);
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
        largest = lanes_maximum(largest, lanes_load(row + j));
    if (j < columns) {
        lanes last = lanes_load_part(row + j, tail);
        largest = lanes_maximum(largest, lanes_select_part(tail, last, lanes_broadcast(-INFINITY)));
    }
    return lanes_largest(largest);
}

static void softmax_row(float *row, size_t columns, lanes_part tail, float scale) {
    float largest = largest_of(row, columns, tail);
    const lanes factor = lanes_broadcast(scale), shift = lanes_broadcast(largest);
    lanes sum = lanes_zero();
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES) {
        lanes x = lanes_exp(lanes_multiply(factor, lanes_subtract(lanes_load(row + j), shift)));
        lanes_store(row + j, x);
        sum = lanes_add(sum, x);
    }
    if (j < columns) {
        lanes x = lanes_load_part(row + j, tail);
        x = lanes_exp(lanes_multiply(factor, lanes_subtract(x, shift)));
        x = lanes_keep_part(tail, x);
        lanes_store_part(row + j, tail, x);
        sum = lanes_add(sum, x);
    }
    const lanes share = lanes_broadcast(1 / lanes_sum(sum));
    for (j = 0; j + LANES <= columns; j += LANES)
        lanes_store(row + j, lanes_multiply(share, lanes_load(row + j)));
    if (j < columns)
        lanes_store_part(row + j, tail, lanes_multiply(share, lanes_load_part(row + j, tail)));
}

void IN_SET(softmax_rows)(float *scores, size_t rows, size_t columns, float scale) {
    lanes_part tail = lanes_first(columns % LANES);
    for (size_t i = 0; i < rows; i++)
        softmax_row(scores + i * columns, columns, tail, scale);
}

static void softmax_row_backward(const float *w, float *g, size_t columns, lanes_part tail, float scale) {
    lanes sum = lanes_zero();
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
        sum = lanes_multiply_add(lanes_load(w + j), lanes_load(g + j), sum);
    if (j < columns)
        sum = lanes_multiply_add(lanes_load_part(w + j, tail), lanes_load_part(g + j, tail), sum);
    const lanes mean = lanes_broadcast(lanes_sum(sum)), factor = lanes_broadcast(scale);
    for (j = 0; j + LANES <= columns; j += LANES) {
        lanes scaled = lanes_multiply(factor, lanes_load(w + j));
        lanes_store(g + j, lanes_multiply(scaled, lanes_subtract(lanes_load(g + j), mean)));
    }
    if (j < columns) {
        lanes scaled = lanes_multiply(factor, lanes_load_part(w + j, tail));
        lanes difference = lanes_subtract(lanes_load_part(g + j, tail), mean);
        lanes_store_part(g + j, tail, lanes_multiply(scaled, difference));
    }
}

void IN_SET(softmax_rows_backward)(const float *weights, float *gradient, size_t rows, size_t columns,
                                   float scale) {
    lanes_part tail = lanes_first(columns % LANES);
    for (size_t i = 0; i < rows; i++)
        softmax_row_backward(weights + i * columns, gradient + i * columns, columns, tail, scale);
}

static void softmax_row_backward_shared(float *w, const float *g, size_t columns, lanes_part tail,
                                        float scale) {
    lanes sum = lanes_zero();
    size_t j = 0;
    for (; j + LANES <= columns; j += LANES)
        sum = lanes_multiply_add(lanes_load(w + j), lanes_load(g + j), sum);
    if (j < columns)
        sum = lanes_multiply_add(lanes_load_part(w + j, tail), lanes_load_part(g + j, tail), sum);
    const lanes mean = lanes_broadcast(lanes_sum(sum)), factor = lanes_broadcast(scale);
    for (j = 0; j + LANES <= columns; j += LANES) {
        lanes difference = lanes_subtract(lanes_load(g + j), mean);
        lanes_store(w + j, lanes_multiply(lanes_multiply(factor, difference), lanes_load(w + j)));
    }
    if (j < columns) {
        lanes difference = lanes_multiply(factor, lanes_subtract(lanes_load_part(g + j, tail), mean));
        lanes_store_part(w + j, tail, lanes_multiply(difference, lanes_load_part(w + j, tail)));
    }
}

void IN_SET(softmax_rows_backward_shared)(float *weights, const float *gradient, size_t rows, size_t columns,
                                          float scale) {
    lanes_part tail = lanes_first(columns % LANES);
    for (size_t i = 0; i < rows; i++)
        softmax_row_backward_shared(weights + i * columns, gradient, columns, tail, scale);
}

#endif
