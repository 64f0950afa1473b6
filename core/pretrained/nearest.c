/* Exact search: matrix products give all similarities, then the largest of each row are kept. See
 * nearest.h. */
#include "core/pretrained/nearest.h"

#include "core/math/matrix.h"

#include <math.h>

void nearest_normalize_rows(float *rows, size_t count, size_t dimensions) {
    for (size_t i = 0; i < count; i++, rows += dimensions) {
        double squares = 0;
        for (size_t j = 0; j < dimensions; j++)
            squares += (double)rows[j] * (double)rows[j];
        float length = (float)sqrt(squares) + 1e-9f;
        for (size_t j = 0; j < dimensions; j++)
            rows[j] /= length;
    }
}

/* Inserts into a short sorted list. */
static void keep_largest(const float *similarities, size_t count, size_t kept, struct neighbour *neighbours) {
    for (size_t i = 0; i < count; i++) {
        if (i >= kept && similarities[i] <= neighbours[kept - 1].similarity)
            continue;
        size_t place = i < kept ? i : kept - 1;
        for (; place > 0 && similarities[i] > neighbours[place - 1].similarity; place--)
            neighbours[place] = neighbours[place - 1];
        neighbours[place] = (struct neighbour){.index = i, .similarity = similarities[i]};
    }
}

void nearest_find(const float *queries, size_t query_count, const float *database, size_t database_count,
                  size_t dimensions, size_t kept, float *workspace, struct neighbour *neighbours) {
    if (kept == 0)
        return;
    for (size_t start = 0; start < query_count; start += NEAREST_BATCH) {
        size_t batch = query_count - start < NEAREST_BATCH ? query_count - start : NEAREST_BATCH;
        matrix_multiply_transposed_b(batch, database_count, dimensions, 1, queries + start * dimensions,
                                     dimensions, database, dimensions, 0, workspace, database_count);
        for (size_t i = 0; i < batch; i++)
            keep_largest(workspace + i * database_count, database_count, kept,
                         neighbours + (start + i) * kept);
    }
}
