/* Products of row-major float matrices: see matrix.h. Small ones go to the kernel of matrix_kernels.h if
 * the processor has one, the others to CBLAS. */
#include "core/math/matrix.h"

#include "core/math/matrix_kernels.h"

#include <cblas.h>
#include <string.h>
#include <sys/mman.h>

/* Up to this many floats in b the small kernel is faster: half a second-level cache or, if b must be
 * transposed first, what fits on the stack. */
enum { SMALL_ELEMENTS = 32768, TRANSPOSED_ELEMENTS = 8192 };

void matrix_use_one_thread(void) {
    if (openblas_get_num_threads() != 1)
        openblas_set_num_threads(1);
}

/* OpenBLAS calls this itself before a fork. Its header does not declare it, and builds without threads do not
 * have it. */
extern int blas_thread_shutdown_(void) __attribute__((weak));

void matrix_end_library_threads(void) {
    matrix_use_one_thread();
    if (blas_thread_shutdown_ != NULL)
        blas_thread_shutdown_();
}

/* OpenBLAS's pool of buffers, likewise. A buffer that is given back stays mapped and is used again. */
extern void *blas_memory_alloc(int purpose) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));

enum { RESERVED_MAXIMUM = 64 }; /* the pool has at least as many places */

bool matrix_reserve(size_t count, struct error *error) {
    void *buffers[RESERVED_MAXIMUM];
    size_t held = 0, size = MATRIX_LIBRARY_BUFFER;
    if (blas_memory_alloc == NULL || blas_memory_free == NULL)
        return true;
    for (; held < count && held < RESERVED_MAXIMUM; held++) {
        /* blas_memory_alloc tries for ever, so try before it does. */
        void *room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED)
            break;
        munmap(room, size);
        buffers[held] = blas_memory_alloc(0);
    }
    bool is_complete = held == count || held == RESERVED_MAXIMUM;
    while (held-- > 0)
        blas_memory_free(buffers[held]);
    return is_complete ||
           error_set(
               error, ERROR_MEMORY,
               "too little address space for OpenBLAS, which maps 128 MiB for each of %zu threads; allow "
               "more (ulimit -v), or start attnlab with fewer --workers",
               count);
}

static const struct matrix_kernels *choose_kernels(void) {
    const enum lane_set chosen = lane_set_chosen();
#define TRY(set, runs)                                                                                       \
    if (chosen == lane_set_##set)                                                                            \
        return &matrix_kernels_##set;
    TRY_FAST_SETS(TRY)
#undef TRY
    return &matrix_kernels_plain;
}

static void multiply_by_library(enum CBLAS_TRANSPOSE transpose_a, enum CBLAS_TRANSPOSE transpose_b, size_t m,
                                size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    if (m == 0 || n == 0)
        return;
    cblas_sgemm(CblasRowMajor, transpose_a, transpose_b, (blasint)m, (blasint)n, (blasint)k, alpha, a,
                (blasint)a_stride, b, (blasint)b_stride, beta, c, (blasint)c_stride);
}

void matrix_multiply(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                     const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    const struct matrix_kernels *kernels = choose_kernels();
    if (k * n <= SMALL_ELEMENTS && kernels->multiply_small != NULL) {
        struct small_product product = {m, n, k, alpha, beta, a, a_stride, 1, b, b_stride, c, c_stride, NULL};
        kernels->multiply_small(&product);
        return;
    }
    multiply_by_library(CblasNoTrans, CblasNoTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                        c_stride);
}

void matrix_multiply_transposed_b(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    const struct matrix_kernels *kernels = choose_kernels();
    if (k * n <= TRANSPOSED_ELEMENTS && kernels->multiply_small != NULL) {
        float transposed[TRANSPOSED_ELEMENTS];
        kernels->transpose(n, k, b, b_stride, transposed);
        struct small_product product = {m, n,          k, alpha, beta,     a,   a_stride,
                                        1, transposed, n, c,     c_stride, NULL};
        kernels->multiply_small(&product);
        return;
    }
    multiply_by_library(CblasNoTrans, CblasTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                        c_stride);
}

void matrix_multiply_transposed_b_add_row(size_t m, size_t n, size_t k, const float *a, size_t a_stride,
                                          const float *b, size_t b_stride, const float *row, float *c,
                                          size_t c_stride) {
    const struct matrix_kernels *kernels = choose_kernels();
    if (k * n <= TRANSPOSED_ELEMENTS && kernels->multiply_small != NULL) {
        float transposed[TRANSPOSED_ELEMENTS];
        kernels->transpose(n, k, b, b_stride, transposed);
        struct small_product product = {m, n, k, 1, 0, a, a_stride, 1, transposed, n, c, c_stride, row};
        kernels->multiply_small(&product);
        return;
    }
    for (size_t i = 0; i < m; i++)
        memcpy(c + i * c_stride, row, n * sizeof *c);
    matrix_multiply_transposed_b(m, n, k, 1, a, a_stride, b, b_stride, 1, c, c_stride);
}

void matrix_multiply_transposed_a(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                                  const float *b, size_t b_stride, float beta, float *c, size_t c_stride) {
    const struct matrix_kernels *kernels = choose_kernels();
    if (m * n <= SMALL_ELEMENTS && kernels->multiply_small != NULL) {
        struct small_product product = {m, n, k, alpha, beta, a, 1, a_stride, b, b_stride, c, c_stride, NULL};
        kernels->multiply_small(&product);
        return;
    }
    multiply_by_library(CblasTrans, CblasNoTrans, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
                        c_stride);
}

void matrix_add_column_sums(const float *matrix, size_t rows, size_t columns, float *sums) {
    choose_kernels()->add_column_sums(matrix, rows, columns, sums);
}
