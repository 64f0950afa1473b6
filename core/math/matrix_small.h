/* Products of matrices that fit in a processor's caches, without a library: for core/math/matrix.c.
 *
 * A layer's products are small, and there CBLAS spends more on calls and packing than on arithmetic. */
#ifndef ATTNLAB_CORE_MATH_MATRIX_SMALL_H
#define ATTNLAB_CORE_MATH_MATRIX_SMALL_H

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

/* For processors with AVX2 and FMA only. */
void matrix_multiply_small_avx2(const struct small_product *product);

/* For processors with AVX-512F only; the same bits. */
void matrix_multiply_small_avx512(const struct small_product *product);

/* to[columns][rows] from from[rows][columns], rows of `from` being from_row apart. */
void matrix_transpose_avx2(size_t rows, size_t columns, const float *from, size_t from_row, float *to);

/* sums[columns] += the sum over the rows of matrix: see matrix_add_column_sums. */
void matrix_add_column_sums_avx2(const float *matrix, size_t rows, size_t columns, float *sums);

#endif
