/* The parts of a transformer block for processors with AVX2: see block_kernels.h. */
#include "core/math/block_kernels.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

#include <math.h>

/* The numbers behind the last full vector of a row: mean and squares so far. */
static void moments_of_rest(const float *x, size_t count, float *mean, float *squares) {
    float seen = 0;
    *mean = *squares = 0;
    for (size_t i = 0; i < count; i++) {
        float difference = x[i] - *mean;
        seen += 1;
        *mean += difference / seen;
        *squares += difference * (x[i] - *mean);
    }
}

static void moments_of(const float *x, size_t count, const struct norm_merge *merge, float *mean,
                       float *squares) {
    __m256 lane_mean = _mm256_setzero_ps(), lane_squares = _mm256_setzero_ps();
    size_t full = count / NORM_LANES * NORM_LANES;
    size_t seen = 0;
    for (size_t i = 0; i < full; i += NORM_LANES) {
        seen++;
        __m256 share = _mm256_set1_ps(1 / (float)seen), value = _mm256_loadu_ps(x + i);
        __m256 difference = _mm256_sub_ps(value, lane_mean);
        lane_mean = _mm256_add_ps(lane_mean, _mm256_mul_ps(difference, share));
        lane_squares =
            _mm256_add_ps(lane_squares, _mm256_mul_ps(difference, _mm256_sub_ps(value, lane_mean)));
    }
    float means[NORM_LANES], products[NORM_LANES];
    _mm256_storeu_ps(means, lane_mean);
    _mm256_storeu_ps(products, lane_squares);
    moments_of_rest(x + full, count - full, mean, squares);
    for (size_t lane = 0; lane < NORM_LANES && full > 0; lane++) {
        float difference = means[lane] - *mean;
        *mean += merge->share[lane] * difference;
        *squares += products[lane] + difference * difference * merge->share[lane] * merge->seen[lane];
    }
}

static __m256i lanes_at(size_t j, size_t count) {
    return vector_first_lanes(count - j < 8 ? (int)(count - j) : 8);
}

void layer_norm_forward_avx2(const struct norm_rows *rows, float *output) {
    struct norm_merge merge = norm_merge_of(rows->width);
    size_t width = rows->width;
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * width;
        float *y = output + row * width;
        float mean, squares;
        moments_of(x, width, &merge, &mean, &squares);
        float inverse = 1 / sqrtf(squares / (float)width + LAYER_NORM_EPSILON);
        const __m256 factor = _mm256_set1_ps(inverse), shift = _mm256_set1_ps(-inverse * mean);
        for (size_t j = 0; j < width; j += 8) {
            __m256i lanes = lanes_at(j, width);
            __m256 normal = _mm256_fmadd_ps(_mm256_maskload_ps(x + j, lanes), factor, shift);
            normal = _mm256_fmadd_ps(normal, _mm256_maskload_ps(rows->weight + j, lanes),
                                     _mm256_maskload_ps(rows->bias + j, lanes));
            _mm256_maskstore_ps(y + j, lanes, normal);
        }
        rows->statistics[2 * row] = mean;
        rows->statistics[2 * row + 1] = inverse;
    }
}

/* Sums of eight floats in double, half and half. */
static inline __m256d add_in_double(__m256d sum, __m256 values) {
    sum = _mm256_add_pd(sum, _mm256_cvtps_pd(_mm256_castps256_ps128(values)));
    return _mm256_add_pd(sum, _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1)));
}

static inline double sum_of(__m256d x) {
    __m128d half = _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd(x, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

static void backward_row(const float *weight, const float *x, float mean_of_x, float inverse,
                         const float *grad_output, float *grad_input, size_t width) {
    const __m256 center = _mm256_set1_ps(mean_of_x), factor = _mm256_set1_ps(inverse);
    __m256d sum = _mm256_setzero_pd(), product = _mm256_setzero_pd();
    for (size_t j = 0; j < width; j += 8) {
        __m256i lanes = lanes_at(j, width);
        __m256 normal = _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + j, lanes), center), factor);
        __m256 g =
            _mm256_mul_ps(_mm256_maskload_ps(weight + j, lanes), _mm256_maskload_ps(grad_output + j, lanes));
        sum = add_in_double(sum, g);
        product = add_in_double(product, _mm256_mul_ps(g, normal));
    }
    const __m256 mean = _mm256_set1_ps((float)(sum_of(sum) / (double)width)),
                 mean_product = _mm256_set1_ps((float)(sum_of(product) / (double)width));
    for (size_t j = 0; j < width; j += 8) {
        __m256i lanes = lanes_at(j, width);
        __m256 normal = _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + j, lanes), center), factor);
        __m256 g =
            _mm256_mul_ps(_mm256_maskload_ps(weight + j, lanes), _mm256_maskload_ps(grad_output + j, lanes));
        g = _mm256_sub_ps(_mm256_sub_ps(g, mean), _mm256_mul_ps(normal, mean_product));
        _mm256_maskstore_ps(grad_input + j, lanes, _mm256_mul_ps(factor, g));
    }
}

/* One row's part of the gradients of weight and bias. */
static void add_row(const float *x, float mean_of_x, float inverse, const float *grad_output,
                    float *grad_weight, float *grad_bias, size_t width) {
    const __m256 center = _mm256_set1_ps(mean_of_x), factor = _mm256_set1_ps(inverse);
    for (size_t j = 0; j < width; j += 8) {
        __m256i lanes = lanes_at(j, width);
        __m256 normal = _mm256_mul_ps(_mm256_sub_ps(_mm256_maskload_ps(x + j, lanes), center), factor);
        __m256 g = _mm256_maskload_ps(grad_output + j, lanes);
        __m256 weight = _mm256_add_ps(_mm256_maskload_ps(grad_weight + j, lanes), _mm256_mul_ps(g, normal));
        __m256 bias = _mm256_add_ps(_mm256_maskload_ps(grad_bias + j, lanes), g);
        _mm256_maskstore_ps(grad_weight + j, lanes, weight);
        _mm256_maskstore_ps(grad_bias + j, lanes, bias);
    }
}

void layer_norm_backward_avx2(const struct norm_rows *rows, const float *grad_output, float *grad_input,
                              float *grad_weight, float *grad_bias) {
    size_t width = rows->width;
    for (size_t row = 0; row < rows->count; row++) {
        const float *x = rows->input + row * width, *g = grad_output + row * width;
        float center = rows->statistics[2 * row], inverse = rows->statistics[2 * row + 1];
        if (grad_weight != NULL)
            add_row(x, center, inverse, g, grad_weight, grad_bias, width);
        if (grad_input != NULL)
            backward_row(rows->weight, x, center, inverse, g, grad_input + row * width, width);
    }
}

void add_values_avx2(float *sum, const float *values, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i), _mm256_loadu_ps(values + i)));
    for (; i < count; i++)
        sum[i] += values[i];
}

void relu_avx2(const float *input, float *output, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(output + i, _mm256_max_ps(_mm256_loadu_ps(input + i), _mm256_setzero_ps()));
    for (; i < count; i++)
        output[i] = input[i] > 0 ? input[i] : 0;
}

void relu_backward_avx2(const float *values, const float *gradient, float *result, size_t count) {
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256 passes = _mm256_cmp_ps(_mm256_loadu_ps(values + i), _mm256_setzero_ps(), _CMP_GT_OQ);
        _mm256_storeu_ps(result + i, _mm256_and_ps(passes, _mm256_loadu_ps(gradient + i)));
    }
    for (; i < count; i++)
        result[i] = values[i] > 0 ? gradient[i] : 0;
}

#endif
