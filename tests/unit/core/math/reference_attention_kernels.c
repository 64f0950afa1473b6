/* Kernels of attention as their formulas are written: see reference_kernels.h. */
#include "tests/unit/core/math/reference_kernels.h"

#include "core/math/attention_head.h"
#include "core/math/score_kernels.h"
#include "core/math/tile_kernels.h"

#include <math.h>
#include <string.h>

static float product_of(const float *a, const float *b, size_t count) {
    float sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add_scaled(float factor, const float *values, float *sum, size_t count) {
    for (size_t i = 0; i < count; i++)
        sum[i] += factor * values[i];
}

/* The keys that query i may see. */
static size_t visible_keys(const struct attention_head *head, size_t i) {
    return head->is_causal ? i + 1 : head->steps;
}

/* The weights of query i. */
static void attend(const struct attention_head *head, size_t i, float *weights) {
    size_t keys = visible_keys(head, i);
    float largest = -INFINITY, sum = 0;
    memset(weights, 0, head->stride * sizeof *weights);
    for (size_t j = 0; j < keys; j++) {
        float score = product_of(head->query + i * head->row, head->key + j * head->row, head->width);
        weights[j] = head->limits != NULL && head->limits[j] == -INFINITY ? -INFINITY : head->scale * score;
        largest = fmaxf(largest, weights[j]);
    }
    for (size_t j = 0; j < keys; j++) {
        weights[j] = expf(weights[j] - largest);
        sum += weights[j];
    }
    for (size_t j = 0; j < keys; j++)
        weights[j] /= sum;
}

void reference_attention_head_forward(const struct attention_head *head, float *weights, float *context) {
    for (size_t i = 0; i < head->steps; i++) {
        float *w = weights + i * head->stride, *sum = context + i * head->row;
        attend(head, i, w);
        memset(sum, 0, head->width * sizeof *sum);
        for (size_t j = 0; j < visible_keys(head, i); j++)
            add_scaled(w[j], head->value + j * head->row, sum, head->width);
    }
}

/* The gradient of query i's scores. */
static void attend_backward(const struct attention_head *head, size_t i, const float *weights,
                            const float *grad_context, float *grad_scores) {
    float mean = 0;
    memset(grad_scores, 0, head->stride * sizeof *grad_scores);
    for (size_t j = 0; j < visible_keys(head, i); j++) {
        grad_scores[j] = product_of(grad_context, head->value + j * head->row, head->width);
        mean += weights[j] * grad_scores[j];
    }
    for (size_t j = 0; j < visible_keys(head, i); j++)
        grad_scores[j] = head->scale * weights[j] * (grad_scores[j] - mean);
}

void reference_attention_head_backward(const struct attention_head *head, const float *weights,
                                       const struct attention_head_gradients *gradients) {
    size_t row = head->row, size = head->width * sizeof(float);
    for (size_t i = 0; i < head->steps; i++) {
        memset(gradients->query + i * row, 0, size);
        memset(gradients->key + i * row, 0, size);
        memset(gradients->value + i * row, 0, size);
    }
    for (size_t i = 0; i < head->steps; i++) {
        const float *w = weights + i * head->stride, *grad_context = gradients->context + i * row;
        float *grad_scores = gradients->scores + i * head->stride;
        attend_backward(head, i, w, grad_context, grad_scores);
        for (size_t j = 0; j < visible_keys(head, i); j++) {
            add_scaled(grad_scores[j], head->key + j * row, gradients->query + i * row, head->width);
            add_scaled(grad_scores[j], head->query + i * row, gradients->key + j * row, head->width);
            add_scaled(w[j], grad_context, gradients->value + j * row, head->width);
        }
    }
}

void reference_tile_softmax(const struct tile *tile, float *largest, float *sums) {
    for (size_t i = 0; i < tile->rows; i++) {
        float *row = tile->values + i * tile->stride, before = largest[i], sum = 0;
        for (size_t j = 0; j < tile->columns; j++)
            largest[i] = fmaxf(largest[i], row[j]);
        float shift = largest[i] == -INFINITY ? 0 : largest[i];
        for (size_t j = 0; j < tile->columns; j++) {
            row[j] = expf(tile->scale * (row[j] - shift));
            sum += row[j];
        }
        sums[i] = sums[i] * expf(tile->scale * (before - shift)) + sum;
    }
}

void reference_tile_weights(const struct tile *tile, const struct row_softmax *rows) {
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++) {
            float *value = tile->values + i * tile->stride + j;
            float shift = rows->largest[i] == -INFINITY ? 0 : rows->largest[i];
            *value = rows->inverse_sums[i] * expf(tile->scale * (*value - shift));
        }
}

void reference_tile_weights_and_means(const struct tile *tile, const struct row_softmax *rows,
                                      const float *gradient, size_t gradient_stride, float *means) {
    reference_tile_weights(tile, rows);
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++)
            means[i] += tile->values[i * tile->stride + j] * gradient[i * gradient_stride + j];
}

void reference_tile_backward(const struct tile *tile, const float *gradient, size_t gradient_stride,
                             const float *means) {
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t j = 0; j < tile->columns; j++)
            tile->values[i * tile->stride + j] *=
                tile->scale * (gradient[i * gradient_stride + j] - means[i]);
}

/* to[stride] = 2^(s_ij - the largest); returns the sum. */
static float exponentials_of_row(const struct shared_scores *scores, const float *x, size_t i, float *to) {
    float largest = -INFINITY, sum = 0, slope = scores->square * x[i] + scores->row[i];
    for (size_t j = 0; j < scores->stride; j++) {
        to[j] = scores->fixed[i * scores->stride + j] + slope * x[j] + x[i] * scores->column[j];
        largest = fmaxf(largest, to[j]);
    }
    for (size_t j = 0; j < scores->stride; j++)
        sum += to[j] = exp2f(to[j] - (largest == -INFINITY ? 0 : largest));
    return sum;
}

void reference_shared_scores_forward(const struct shared_scores *scores, const float *x, float *exponentials,
                                     float *inverse_sums, float *share) {
    memset(share, 0, scores->stride * sizeof *share);
    for (size_t i = 0; i < scores->steps; i++) {
        float *to = exponentials + i * scores->stride;
        inverse_sums[i] = shared_scores_inverse(scores, i, exponentials_of_row(scores, x, i, to));
        for (size_t j = 0; j < scores->stride; j++)
            share[j] += inverse_sums[i] * to[j];
    }
}

void reference_shared_scores_backward(const struct shared_scores *scores, const float *x,
                                      const float *exponentials, const float *inverse_sums,
                                      const float *grad_share, struct shared_scores_gradient *gradient) {
    size_t stride = scores->stride;
    for (size_t i = 0; i < scores->steps; i++) {
        const float *row = exponentials + i * stride;
        float mean = 0, with_x = 0;
        for (size_t j = 0; j < stride; j++)
            mean += row[j] * grad_share[j];
        mean *= inverse_sums[i];
        for (size_t j = 0; j < stride; j++) {
            float change = inverse_sums[i] * row[j] * (grad_share[j] - mean);
            gradient->fixed[i * stride + j] += change;
            gradient->column[j] += x[i] * change;
            with_x += change * x[j];
        }
        gradient->row[i] += with_x;
        gradient->square += x[i] * with_x;
    }
}

void reference_tilted_moments(const float *values, size_t count, const float *tilts, size_t tilt_count,
                              float *means, float *variances) {
    float least, largest;
    score_kernels_range(values, count, &least, &largest);
    for (size_t i = 0; i < tilt_count; i++) {
        /* Around the value with the largest weight: nothing overflows, and the variance cancels least. */
        float centre = tilts[i] > 0 ? largest : least, sum = 0, first = 0, second = 0;
        for (size_t j = 0; j < count; j++) {
            float difference = values[j] - centre, weight = exp2f(tilts[i] * difference);
            sum += weight;
            first += weight * difference;
            second += weight * difference * difference;
        }
        float mean = first / sum;
        means[i] = centre + mean;
        variances[i] = second / sum - mean * mean;
    }
}
