/* Products of row-major float matrices, over CBLAS with one thread.
 *
 * Only matrix.c uses cblas.h. The bits of a product depend only on its shape, so callers keep their batch
 * layout fixed.
 *
 * This folder holds all arithmetic on arrays: products here, elementwise kernels in kernels.h, memory in
 * arena.h. May call only core/error.h. Called by layers, model, training, pretrained and experiments. */
#ifndef ATTNLAB_CORE_MATH_MATRIX_H
#define ATTNLAB_CORE_MATH_MATRIX_H

#include "core/error.h"

#include <stddef.h>

/* Prevents the library from starting threads, because the callers parallelise. May be called any number of
 * times. */
void matrix_use_one_thread(void);

/* The same, and ends the threads that the library started when the program was loaded. They would busy-wait
 * for a tenth of a second on cores that a run needs. Call it before there are other threads. */
void matrix_end_library_threads(void);

/* What the library maps for each product at the same time, in bytes of address space; it touches little. */
#define MATRIX_LIBRARY_BUFFER ((size_t)128 << 20)

/* Lets the library map what `count` threads need for products at the same time. It would otherwise do so in
 * the first product, and wait there for ever if the system refused. ERROR_MEMORY if it refuses. Call it
 * before products; it takes no resident memory. */
bool matrix_reserve(size_t count, struct error *error);

/* c[m][n] = alpha * a[m][k] b[k][n] + beta * c. `*_stride`: floats from one row to the next. With beta 0, c
 * need not be initialised. */
void matrix_multiply(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                     const float *b, size_t b_stride, float beta, float *c, size_t c_stride);

/* c[m][n] = alpha * a[m][k] bT + beta * c, where b is stored as [n][k]. */
void matrix_multiply_transposed_b(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride);

/* c[m][n] = a[m][k] bT + row[n] in every row, where b is stored as [n][k]: a linear layer. */
void matrix_multiply_transposed_b_add_row(size_t m, size_t n, size_t k, const float *a, size_t a_stride,
                                          const float *b, size_t b_stride, const float *row, float *c,
                                          size_t c_stride);

/* c[m][n] = alpha * aT b[k][n] + beta * c, where a is stored as [k][m]. */
void matrix_multiply_transposed_a(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride);

/* sums[columns] += the sum over the rows of matrix[rows][columns]. As in PyTorch, every 16 rows have their
 * own sum, 16 of these are added to a sum of the next level, and so on. The rounding matters: large numbers
 * often cancel in a bias's gradient and leave a small rest, of which Adam makes a full step. */
void matrix_add_column_sums(const float *matrix, size_t rows, size_t columns, float *sums);

#endif
