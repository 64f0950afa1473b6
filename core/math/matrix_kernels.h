/* Products of matrices that fit in a processor's caches, without a library: for core/math/matrix.c.
 *
 * A layer's products are small, and there CBLAS spends more on calls and packing than on arithmetic. */
#ifndef ATTNLAB_CORE_MATH_MATRIX_KERNELS_H
#define ATTNLAB_CORE_MATH_MATRIX_KERNELS_H

#include "core/math/lanes/sets.h"

#include <stddef.h>

/* c[m][n] = alpha a b + beta c + row. a's element (i, l) is at a[i * a_row + l * a_column], so that a may be
 * stored transposed; b[k][n] and c[m][n] are row-major. */
struct small_product {
    size_t m, n, k;
    float alpha, beta;
    const float *a;
    size_t a_row, a_column;
    const float *b;
    size_t b_row;
    float *c;
    size_t c_row;
    const float *row; /* [n], added to every row of c; NULL: none */
};

struct matrix_kernels {
    /* NULL in plain C, because there the library is faster. */
    void (*multiply_small)(const struct small_product *product);

    /* to[columns][rows] from from[rows][columns], rows of `from` being from_row apart. */
    void (*transpose)(size_t rows, size_t columns, const float *from, size_t from_row, float *to);

    /* sums[columns] += the sum over the rows of matrix: see matrix_add_column_sums. */
    void (*add_column_sums)(const float *matrix, size_t rows, size_t columns, float *sums);
};

#define DECLARE_MATRIX_KERNELS(set) extern const struct matrix_kernels matrix_kernels_##set;
FOR_EVERY_SET(DECLARE_MATRIX_KERNELS)

#define DECLARE_MATRIX_FUNCTIONS(set)                                                                        \
    void matrix_transpose_##set(size_t rows, size_t columns, const float *from, size_t from_row, float *to); \
    void matrix_add_column_sums_##set(const float *matrix, size_t rows, size_t columns, float *sums);
FOR_SETS_OF_EIGHT(DECLARE_MATRIX_FUNCTIONS)

#endif
