/* Turns a grey image of bytes into the input that MobileNetV2 was trained on.
 *
 * It follows Keras (keras.ops.image.resize, bilinear; then mobilenet_v2.preprocess_input): bytes / 255,
 * bilinear resizing with half-pixel centres and no smoothing, the grey value repeated for red, green and
 * blue, then x * 255 / 127.5 - 1, which lies in [-1, 1]. */
#ifndef ATTNLAB_CORE_PRETRAINED_RESIZE_H
#define ATTNLAB_CORE_PRETRAINED_RESIZE_H

#include <stddef.h>
#include <stdint.h>

enum { RESIZE_CHANNELS = 3 };

/* pixels[rows][columns], each at least 1; output[size][size][RESIZE_CHANNELS]. */
void resize_grey_image(const uint8_t *pixels, size_t rows, size_t columns, size_t size, float *output);

#endif
