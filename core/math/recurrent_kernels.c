/* Kernels of the recurrent layers' time loops, over lanes: see recurrent_kernels.h. */
#include "core/math/recurrent_kernels.h"

#include "core/math/lanes/elementary.h"

LANES_INLINE void hyperbolic_tangent_at(size_t j, size_t left, float *values) {
    lanes_store_first(values + j, left, lanes_tanh(lanes_load_first(values + j, left)));
}

/* Four independent chains at a time keep the multipliers busy while each waits for its own results. */
void IN_SET(hyperbolic_tangent)(float *values, size_t count) {
    size_t i = 0;
    for (; i + 4 * LANES <= count; i += 4 * LANES) {
        lanes a = lanes_tanh(lanes_load(values + i)), b = lanes_tanh(lanes_load(values + i + LANES));
        lanes c = lanes_tanh(lanes_load(values + i + 2 * LANES)),
              d = lanes_tanh(lanes_load(values + i + 3 * LANES));
        lanes_store(values + i, a);
        lanes_store(values + i + LANES, b);
        lanes_store(values + i + 2 * LANES, c);
        lanes_store(values + i + 3 * LANES, d);
    }
    FOR_LANES(count - i, hyperbolic_tangent_at, values + i);
}

/* x (1 - y^2) */
static inline lanes through_tanh(lanes x, lanes y) {
    return lanes_multiply(x, lanes_subtract_product(y, y, lanes_broadcast(1)));
}

/* x y (1 - y) */
static inline lanes through_sigmoid(lanes x, lanes y) {
    return lanes_multiply(lanes_multiply(x, y), lanes_subtract(lanes_broadcast(1), y));
}

LANES_INLINE void tanh_backward_at(size_t j, size_t left, const float *y, const float *gradient,
                                   float *result) {
    lanes x = through_tanh(lanes_load_first(gradient + j, left), lanes_load_first(y + j, left));
    lanes_store_first(result + j, left, x);
}

void IN_SET(tanh_backward)(const float *y, const float *gradient, float *result, size_t count) {
    FOR_LANES(count, tanh_backward_at, y, gradient, result);
}

LANES_INLINE void lstm_step_at(size_t j, size_t left, float *gate, const float *cell_before, float *cell,
                               float *cell_tanh, float *hidden, size_t width) {
    lanes i = lanes_sigmoid(lanes_load_first(gate + j, left));
    lanes f = lanes_sigmoid(lanes_load_first(gate + width + j, left));
    lanes g = lanes_tanh(lanes_load_first(gate + 2 * width + j, left));
    lanes o = lanes_sigmoid(lanes_load_first(gate + 3 * width + j, left));
    lanes c = lanes_multiply(i, g);
    if (cell_before != NULL)
        c = lanes_multiply_add(f, lanes_load_first(cell_before + j, left), c);
    lanes squashed = lanes_tanh(c);
    lanes_store_first(gate + j, left, i);
    lanes_store_first(gate + width + j, left, f);
    lanes_store_first(gate + 2 * width + j, left, g);
    lanes_store_first(gate + 3 * width + j, left, o);
    lanes_store_first(cell + j, left, c);
    lanes_store_first(cell_tanh + j, left, squashed);
    lanes_store_first(hidden + j, left, lanes_multiply(o, squashed));
}

void IN_SET(lstm_step)(float *gates, const float *cell_before, float *cell, float *cell_tanh, float *hidden,
                       size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *gate = gates + row * 4 * width;
        size_t at = row * width;
        FOR_LANES(width, lstm_step_at, gate, cell_before == NULL ? NULL : cell_before + at, cell + at,
                  cell_tanh + at, hidden + at, width);
    }
}

LANES_INLINE void lstm_step_backward_at(size_t j, size_t left, float *gate, const float *cell_before,
                                        const float *cell_tanh, const float *grad_hidden, float *grad_cell,
                                        size_t width) {
    lanes i = lanes_load_first(gate + j, left), f = lanes_load_first(gate + width + j, left);
    lanes g = lanes_load_first(gate + 2 * width + j, left), o = lanes_load_first(gate + 3 * width + j, left);
    lanes before = cell_before == NULL ? lanes_zero() : lanes_load_first(cell_before + j, left);
    lanes squashed = lanes_load_first(cell_tanh + j, left);
    lanes to_hidden = lanes_load_first(grad_hidden + j, left);
    lanes to_cell = through_tanh(lanes_multiply(to_hidden, o), squashed);
    to_cell = lanes_add(to_cell, lanes_load_first(grad_cell + j, left));
    lanes_store_first(grad_cell + j, left, lanes_multiply(to_cell, f));
    lanes_store_first(gate + j, left, through_sigmoid(lanes_multiply(to_cell, g), i));
    lanes_store_first(gate + width + j, left, through_sigmoid(lanes_multiply(to_cell, before), f));
    lanes_store_first(gate + 2 * width + j, left, through_tanh(lanes_multiply(to_cell, i), g));
    lanes_store_first(gate + 3 * width + j, left, through_sigmoid(lanes_multiply(to_hidden, squashed), o));
}

void IN_SET(lstm_step_backward)(float *gates, const float *cell_before, const float *cell_tanh,
                                const float *grad_hidden, float *grad_cell, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *gate = gates + row * 4 * width;
        size_t at = row * width;
        FOR_LANES(width, lstm_step_backward_at, gate, cell_before == NULL ? NULL : cell_before + at,
                  cell_tanh + at, grad_hidden + at, grad_cell + at, width);
    }
}
