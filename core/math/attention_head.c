/* Attention of one head, in plain C: see attention_head.h. */
#include "core/math/attention_head.h"

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
        weights[j] = head->scale * score + (head->bias == NULL ? 0 : head->bias[j]);
        largest = fmaxf(largest, weights[j]);
    }
    if (largest == -INFINITY)
        largest = 0;
    for (size_t j = 0; j < keys; j++) {
        weights[j] = expf(weights[j] - largest);
        sum += weights[j];
    }
    float factor = sum > 0 ? 1 / sum : 0;
    for (size_t j = 0; j < keys; j++)
        weights[j] *= factor;
}

void attention_head_forward_plain(const struct attention_head *head, float *weights, float *context) {
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

void attention_head_backward_plain(const struct attention_head *head, const float *weights,
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
