/* Attention of one head, over lanes: see attention_head.h.
 *
 * Keys, and for the backward pass values, are transposed once, so that a row of scores is a sum of vectors,
 * one for each column of the query. A row of up to 32 scores is one to four vectors, which stay in registers
 * until they are weights. */
#include "core/math/attention_head.h"

#include "core/math/lanes/elementary.h"

#if LANES == 8

#include <math.h>

enum { MAXIMUM_VECTORS = ATTENTION_HEAD_MAXIMUM_STEPS / LANES };

/* to[width][LANES * vectors] from from[steps][width], whose rows are `row` floats apart; zero behind the last
 * step. */
static void transpose(const float *from, size_t steps, size_t width, size_t row, int vectors, float *to) {
    size_t stride = LANES * (size_t)vectors;
    for (size_t i = 0; i < stride; i += LANES)
        for (size_t j = 0; j < width; j += LANES) {
            lanes block[LANES];
            size_t columns = width - j < LANES ? width - j : LANES;
            lanes_part part = lanes_first(columns);
            for (size_t k = 0; k < LANES; k++)
                block[k] = i + k < steps ? lanes_load_part(from + (i + k) * row + j, part) : lanes_zero();
            lanes_transpose(block);
            for (size_t k = 0; k < columns; k++)
                lanes_store(to + (j + k) * stride + i, block[k]);
        }
}

/* products[vectors] = the row times a transposed matrix. */
LANES_INLINE void multiply_row(int vectors, const float *row, size_t width, const float *transposed,
                               lanes *products) {
    for (int v = 0; v < vectors; v++)
        products[v] = lanes_zero();
    for (size_t j = 0; j < width; j++) {
        lanes factor = lanes_broadcast(row[j]);
        for (int v = 0; v < vectors; v++)
            products[v] = lanes_multiply_add(factor, lanes_load(transposed + LANES * v), products[v]);
        transposed += LANES * vectors;
    }
}

/* Returns the part of vector v that belongs to the first `keys` lanes of a row. */
LANES_INLINE lanes_part part_of_row(size_t keys, int v) {
    size_t before = LANES * (size_t)v;
    return lanes_first(keys <= before ? 0 : keys - before < LANES ? keys - before : LANES);
}

/* Works in place; sets everything after the first `keys` to 0. */
LANES_INLINE void softmax(int vectors, const struct attention_head *head, size_t keys, lanes *row) {
    const lanes scale = lanes_broadcast(head->scale), nothing = lanes_broadcast(-INFINITY);
    lanes largest = nothing;
    for (int v = 0; v < vectors; v++) {
        row[v] = lanes_multiply(scale, row[v]);
        if (head->limits != NULL)
            row[v] = lanes_minimum(row[v], lanes_load(head->limits + LANES * v)); /* of NaN: the limit */
        lanes_part seen = part_of_row(keys, v);
        row[v] = lanes_select_part(seen, row[v], nothing);
        largest = lanes_maximum(largest, row[v]);
    }
    const lanes shifts = lanes_broadcast(lanes_largest(largest));
    lanes sum = lanes_zero();
    for (int v = 0; v < vectors; v++) {
        row[v] = lanes_exp(lanes_subtract(row[v], shifts));
        sum = lanes_add(sum, row[v]);
    }
    const lanes share = lanes_broadcast(1 / lanes_sum(sum));
    for (int v = 0; v < vectors; v++)
        row[v] = lanes_multiply(share, row[v]);
}

/* Computes one row: sum[width] = factors[count] times matrix[count][width]. Factors are factor_row apart, so
 * that they may be a column. */
static inline void combine_rows(const float *factors, size_t factor_row, size_t count, const float *matrix,
                                size_t row, size_t width, float *sum) {
    for (size_t j = 0; j < width; j += LANES) {
        lanes_part part = lanes_part_at(j, width);
        lanes even = lanes_zero(), odd = lanes_zero();
        size_t k = 0;
        for (; k + 2 <= count; k += 2) {
            even = lanes_multiply_add(lanes_broadcast(factors[k * factor_row]),
                                      lanes_load_part(matrix + k * row + j, part), even);
            odd = lanes_multiply_add(lanes_broadcast(factors[(k + 1) * factor_row]),
                                     lanes_load_part(matrix + (k + 1) * row + j, part), odd);
        }
        if (k < count)
            even = lanes_multiply_add(lanes_broadcast(factors[k * factor_row]),
                                      lanes_load_part(matrix + k * row + j, part), even);
        lanes_store_part(sum + j, part, lanes_add(even, odd));
    }
}

LANES_INLINE void forward(int vectors, const struct attention_head *head, float *weights, float *context) {
    _Alignas(32) float keys[ATTENTION_HEAD_MAXIMUM_WIDTH * ATTENTION_HEAD_MAXIMUM_STEPS];
    transpose(head->key, head->steps, head->width, head->row, vectors, keys);
    for (size_t i = 0; i < head->steps; i++) {
        size_t visible = head->is_causal ? i + 1 : head->steps;
        lanes row[MAXIMUM_VECTORS];
        multiply_row(vectors, head->query + i * head->row, head->width, keys, row);
        softmax(vectors, head, visible, row);
        for (int v = 0; v < vectors; v++)
            lanes_store(weights + i * head->stride + LANES * v, row[v]);
        for (size_t j = LANES * (size_t)vectors; j < head->stride; j += LANES)
            lanes_store(weights + i * head->stride + j, lanes_zero());
        combine_rows(weights + i * head->stride, 1, visible, head->value, head->row, head->width,
                     context + i * head->row);
    }
}

LANES_INLINE void backward(int vectors, const struct attention_head *head, const float *weights,
                           const struct attention_head_gradients *gradients) {
    _Alignas(32) float values[ATTENTION_HEAD_MAXIMUM_WIDTH * ATTENTION_HEAD_MAXIMUM_STEPS];
    size_t steps = head->steps, width = head->width, row = head->row, stride = head->stride;
    const lanes scale = lanes_broadcast(head->scale);
    transpose(head->value, steps, width, row, vectors, values);
    for (size_t i = 0; i < steps; i++) {
        const float *w = weights + i * stride;
        float *to = gradients->scores + i * stride;
        lanes g[MAXIMUM_VECTORS], sum = lanes_zero();
        multiply_row(vectors, gradients->context + i * row, width, values, g);
        for (int v = 0; v < vectors; v++)
            sum = lanes_multiply_add(lanes_load(w + LANES * v), g[v], sum);
        const lanes mean = lanes_broadcast(lanes_sum(sum));
        for (int v = 0; v < vectors; v++) {
            lanes scaled = lanes_multiply(scale, lanes_load(w + LANES * v));
            lanes_store(to + LANES * v, lanes_multiply(scaled, lanes_subtract(g[v], mean)));
        }
        combine_rows(to, 1, head->is_causal ? i + 1 : steps, head->key, row, width,
                     gradients->query + i * row);
    }
    for (size_t j = 0; j < steps; j++) {
        size_t first = head->is_causal ? j : 0, at = first * stride + j;
        combine_rows(gradients->scores + at, stride, steps - first, head->query + first * row, row, width,
                     gradients->key + j * row);
        combine_rows(weights + at, stride, steps - first, gradients->context + first * row, row, width,
                     gradients->value + j * row);
    }
}

void IN_SET(attention_head_forward)(const struct attention_head *head, float *weights, float *context) {
    if (head->steps <= 8)
        forward(1, head, weights, context);
    else if (head->steps <= 16)
        forward(2, head, weights, context);
    else if (head->steps <= 24)
        forward(3, head, weights, context);
    else
        forward(4, head, weights, context);
}

void IN_SET(attention_head_backward)(const struct attention_head *head, const float *weights,
                                     const struct attention_head_gradients *gradients) {
    if (head->steps <= 8)
        backward(1, head, weights, gradients);
    else if (head->steps <= 16)
        backward(2, head, weights, gradients);
    else if (head->steps <= 24)
        backward(3, head, weights, gradients);
    else
        backward(4, head, weights, gradients);
}

#endif
