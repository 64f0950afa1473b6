/* Bilinear resize with half-pixel centres: see resize.h. */
#include "core/pretrained/resize.h"

/* The two source pixels between which a target pixel lies, and its distance from the first. */
struct position {
    size_t low, high;
    float share;
};

static struct position find_position(size_t target, size_t source_extent, size_t target_extent) {
    float scale = (float)source_extent / (float)target_extent;
    float centre = ((float)target + 0.5f) * scale - 0.5f;
    if (centre < 0)
        centre = 0;
    size_t low = (size_t)centre;
    if (low > source_extent - 1)
        low = source_extent - 1;
    return (struct position){low, low + 1 < source_extent ? low + 1 : low, centre - (float)low};
}

static float blend(float low, float high, float share) {
    return low * (1 - share) + high * share;
}

void resize_grey_image(const uint8_t *pixels, size_t rows, size_t columns, size_t size, float *output) {
    for (size_t y = 0; y < size; y++) {
        struct position row = find_position(y, rows, size);
        const uint8_t *above = pixels + row.low * columns, *below = pixels + row.high * columns;
        for (size_t x = 0; x < size; x++, output += RESIZE_CHANNELS) {
            struct position column = find_position(x, columns, size);
            float top = blend((float)above[column.low] / 255, (float)above[column.high] / 255, column.share);
            float bottom =
                blend((float)below[column.low] / 255, (float)below[column.high] / 255, column.share);
            float grey = blend(top, bottom, row.share) * 255 / 127.5f - 1;
            for (size_t channel = 0; channel < RESIZE_CHANNELS; channel++)
                output[channel] = grey;
        }
    }
}
