/* What the time loops of the recurrent layers do beside their products, for processors with AVX-512: see
 * recurrent_kernels.h. */
#include "core/math/recurrent_kernels.h"

#if defined(__AVX512F__)

#include "core/math/vector_avx512.h"

#define SIXTEEN_LANES static inline __attribute__((always_inline))

/* function(first, 16, ...) for every sixteen of `count` elements, then (first, rest, ...): a constant count
 * where it is sixteen. */
#define FOR_SIXTEENS(count, function, ...)                                                                   \
    do {                                                                                                     \
        size_t first = 0;                                                                                    \
        for (; first + 16 <= (count); first += 16)                                                           \
            function(first, 16, __VA_ARGS__);                                                                \
        if (first < (count))                                                                                 \
            function(first, (count)-first, __VA_ARGS__);                                                     \
    } while (0)

SIXTEEN_LANES void hyperbolic_tangent_at(size_t j, size_t left, float *values) {
    vector16_store_first(values + j, left, vector16_tanh(vector16_load_first(values + j, left)));
}

void hyperbolic_tangent_avx512(float *values, size_t count) {
    FOR_SIXTEENS(count, hyperbolic_tangent_at, values);
}

/* x (1 - y^2) */
static inline __m512 through_tanh(__m512 x, __m512 y) {
    return _mm512_mul_ps(x, _mm512_fnmadd_ps(y, y, _mm512_set1_ps(1)));
}

/* x y (1 - y) */
static inline __m512 through_sigmoid(__m512 x, __m512 y) {
    return _mm512_mul_ps(_mm512_mul_ps(x, y), _mm512_sub_ps(_mm512_set1_ps(1), y));
}

SIXTEEN_LANES void tanh_backward_at(size_t j, size_t left, const float *y, const float *gradient,
                                    float *result) {
    __m512 x = through_tanh(vector16_load_first(gradient + j, left), vector16_load_first(y + j, left));
    vector16_store_first(result + j, left, x);
}

void tanh_backward_avx512(const float *y, const float *gradient, float *result, size_t count) {
    FOR_SIXTEENS(count, tanh_backward_at, y, gradient, result);
}

SIXTEEN_LANES void lstm_step_at(size_t j, size_t left, float *gate, const float *cell_before, float *cell,
                                float *cell_tanh, float *hidden, size_t width) {
    __m512 i = vector16_sigmoid(vector16_load_first(gate + j, left));
    __m512 f = vector16_sigmoid(vector16_load_first(gate + width + j, left));
    __m512 g = vector16_tanh(vector16_load_first(gate + 2 * width + j, left));
    __m512 o = vector16_sigmoid(vector16_load_first(gate + 3 * width + j, left));
    __m512 c = _mm512_mul_ps(i, g);
    if (cell_before != NULL)
        c = _mm512_fmadd_ps(f, vector16_load_first(cell_before + j, left), c);
    __m512 squashed = vector16_tanh(c);
    vector16_store_first(gate + j, left, i);
    vector16_store_first(gate + width + j, left, f);
    vector16_store_first(gate + 2 * width + j, left, g);
    vector16_store_first(gate + 3 * width + j, left, o);
    vector16_store_first(cell + j, left, c);
    vector16_store_first(cell_tanh + j, left, squashed);
    vector16_store_first(hidden + j, left, _mm512_mul_ps(o, squashed));
}

void lstm_step_avx512(float *gates, const float *cell_before, float *cell, float *cell_tanh, float *hidden,
                      size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *gate = gates + row * 4 * width;
        size_t at = row * width;
        FOR_SIXTEENS(width, lstm_step_at, gate, cell_before == NULL ? NULL : cell_before + at, cell + at,
                     cell_tanh + at, hidden + at, width);
    }
}

SIXTEEN_LANES void lstm_step_backward_at(size_t j, size_t left, float *gate, const float *cell_before,
                                         const float *cell_tanh, const float *grad_hidden, float *grad_cell,
                                         size_t width) {
    __m512 i = vector16_load_first(gate + j, left), f = vector16_load_first(gate + width + j, left);
    __m512 g = vector16_load_first(gate + 2 * width + j, left),
           o = vector16_load_first(gate + 3 * width + j, left);
    __m512 before = cell_before == NULL ? _mm512_setzero_ps() : vector16_load_first(cell_before + j, left);
    __m512 squashed = vector16_load_first(cell_tanh + j, left);
    __m512 to_hidden = vector16_load_first(grad_hidden + j, left);
    __m512 to_cell = through_tanh(_mm512_mul_ps(to_hidden, o), squashed);
    to_cell = _mm512_add_ps(to_cell, vector16_load_first(grad_cell + j, left));
    vector16_store_first(grad_cell + j, left, _mm512_mul_ps(to_cell, f));
    vector16_store_first(gate + j, left, through_sigmoid(_mm512_mul_ps(to_cell, g), i));
    vector16_store_first(gate + width + j, left, through_sigmoid(_mm512_mul_ps(to_cell, before), f));
    vector16_store_first(gate + 2 * width + j, left, through_tanh(_mm512_mul_ps(to_cell, i), g));
    vector16_store_first(gate + 3 * width + j, left, through_sigmoid(_mm512_mul_ps(to_hidden, squashed), o));
}

void lstm_step_backward_avx512(float *gates, const float *cell_before, const float *cell_tanh,
                               const float *grad_hidden, float *grad_cell, size_t rows, size_t width) {
    for (size_t row = 0; row < rows; row++) {
        float *gate = gates + row * 4 * width;
        size_t at = row * width;
        FOR_SIXTEENS(width, lstm_step_backward_at, gate, cell_before == NULL ? NULL : cell_before + at,
                     cell_tanh + at, grad_hidden + at, grad_cell + at, width);
    }
}

#endif
