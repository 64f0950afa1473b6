/* Random weights in Keras' layout for a network of any shape, drawn as in make_mobilenet_golden.py. */
#ifndef ATTNLAB_TESTS_UNIT_CORE_PRETRAINED_RANDOM_WEIGHTS_H
#define ATTNLAB_TESTS_UNIT_CORE_PRETRAINED_RANDOM_WEIGHTS_H

#include "core/pretrained/mobilenet.h"
#include "core/random/numpy_random.h"

#include <check.h>
#include <math.h>
#include <stdio.h>

enum { RANDOM_WEIGHTS_NORMAL, RANDOM_WEIGHTS_UNIFORM };

static inline void random_weights_add(struct weight_arrays *arrays, struct numpy_generator *generator,
                                      const size_t *shape, size_t rank, int kind, double first,
                                      double second) {
    char name[32];
    struct error error = {0};
    snprintf(name, sizeof name, "array_%zu", arrays->count);
    struct weight_array *array = weight_arrays_add(arrays, name, shape, rank, &error);
    ck_assert_ptr_nonnull(array);
    for (size_t i = 0; i < array->count; i++)
        array->values[i] =
            (float)(kind == RANDOM_WEIGHTS_NORMAL ? first + second * numpy_standard_normal(generator)
                                                  : numpy_uniform(generator, first, second));
}

static inline struct weight_arrays random_weights(const struct mobilenet_shape *network_shape,
                                                  struct numpy_generator *generator) {
    struct weight_arrays arrays = {0};
    struct error error = {0};
    struct mobilenet *outline = mobilenet_create_layers(network_shape, &error);
    ck_assert_ptr_nonnull(outline);
    for (size_t i = 0; i < outline->layer_count; i++) {
        const struct mobilenet_layer *layer = &outline->layers[i];
        bool depthwise = layer->kind == CONVOLUTION_DEPTHWISE;
        size_t filter = layer->kind == CONVOLUTION_POINTWISE ? 1 : 3;
        size_t shape[] = {filter, filter, layer->in_channels, depthwise ? 1 : layer->out_channels};
        double inputs = (double)(filter * filter * (depthwise ? 1 : layer->in_channels));
        random_weights_add(&arrays, generator, shape, 4, RANDOM_WEIGHTS_NORMAL, 0, 1 / sqrt(inputs));
        random_weights_add(&arrays, generator, &layer->out_channels, 1, RANDOM_WEIGHTS_UNIFORM, 0.5, 1.5);
        random_weights_add(&arrays, generator, &layer->out_channels, 1, RANDOM_WEIGHTS_NORMAL, 0, 0.5);
        random_weights_add(&arrays, generator, &layer->out_channels, 1, RANDOM_WEIGHTS_NORMAL, 0, 0.1);
        random_weights_add(&arrays, generator, &layer->out_channels, 1, RANDOM_WEIGHTS_UNIFORM, 0.5, 1.5);
    }
    mobilenet_free(outline);
    return arrays;
}

#endif
