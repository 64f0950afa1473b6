/* Softmax of rows: see softmax.h. */
#include "core/math/softmax.h"

#include <math.h>

void softmax_rows(float *scores, size_t rows, size_t columns, float scale) {
    for (size_t i = 0; i < rows; i++) {
        float *row = scores + i * columns;
        float largest = -INFINITY;
        for (size_t j = 0; j < columns; j++)
            largest = fmaxf(largest, row[j]);
        float sum = 0;
        for (size_t j = 0; j < columns; j++) {
            row[j] = expf(scale * (row[j] - largest));
            sum += row[j];
        }
        float factor = 1 / sum;
        for (size_t j = 0; j < columns; j++)
            row[j] *= factor;
    }
}
