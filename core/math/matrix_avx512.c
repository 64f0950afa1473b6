/* Products of small matrices for processors with AVX-512: see matrix_small.h.
 *
 * The scheme of matrix_avx2.c with blocks of 8 x 32 results in sixteen registers. Every result is the same
 * chain of operations as there, so the two agree to the bit. */
#include "core/math/matrix_small.h"

#if defined(__AVX512F__)

#include <immintrin.h>

/* Steps of k after which a block is written back, as in matrix_avx2.c: it shows in the roundings. */
enum { K_BLOCK = 256, ROWS = 8, LANES = 16 };

/* Some rows and vectors of c, plus `added` in every row (or NULL); the last vector through `lanes` if
 * `masked`. The counts are constants wherever this is inlined, so that `sum` becomes registers. */
static inline __attribute__((always_inline)) void
multiply_block(int rows, int vectors, int masked, const struct small_product *p, const float *a,
               const float *b, float *c, size_t k, float beta, __mmask16 lanes, const float *added) {
    __m512 sum[ROWS][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = _mm512_setzero_ps();
    for (size_t step = 0; step < k; step++) {
        __m512 row[2];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            row[j] = masked ? _mm512_maskz_loadu_ps(lanes, b) : _mm512_loadu_ps(b + LANES * j);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            __m512 factor = _mm512_set1_ps(a[(size_t)i * p->a_row]);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sum[i][j] = _mm512_fmadd_ps(factor, row[j], sum[i][j]);
        }
        a += p->a_column;
        b += p->b_row;
    }
    const __m512 alpha = _mm512_set1_ps(p->alpha), keep = _mm512_set1_ps(beta);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) {
            float *to = c + (size_t)i * p->c_row + LANES * j;
            __m512 value = _mm512_mul_ps(alpha, sum[i][j]);
            if (added != NULL)
                value = _mm512_add_ps(value, masked ? _mm512_maskz_loadu_ps(lanes, added)
                                                    : _mm512_loadu_ps(added + LANES * j));
            if (beta != 0)
                value = _mm512_fmadd_ps(keep, masked ? _mm512_maskz_loadu_ps(lanes, to) : _mm512_loadu_ps(to),
                                        value);
            if (masked)
                _mm512_mask_storeu_ps(to, lanes, value);
            else
                _mm512_storeu_ps(to, value);
        }
}

/* Functions of their own, so that no accumulator is spilled. */
#define DEFINE_BLOCK(name, rows, vectors, masked)                                                            \
    static __attribute__((noinline)) void name(const struct small_product *p, const float *a,                \
                                               const float *b, float *c, size_t k, float beta,               \
                                               __mmask16 lanes, const float *added) {                        \
        multiply_block(rows, vectors, masked, p, a, b, c, k, beta, lanes, added);                            \
    }
#define DEFINE_BLOCKS(rows)                                                                                  \
    DEFINE_BLOCK(block_##rows##_wide, rows, 2, 0)                                                            \
    DEFINE_BLOCK(block_##rows##_narrow, rows, 1, 0)                                                          \
    DEFINE_BLOCK(block_##rows##_masked, rows, 1, 1)
DEFINE_BLOCKS(1)
DEFINE_BLOCKS(2)
DEFINE_BLOCKS(3)
DEFINE_BLOCKS(4)
DEFINE_BLOCKS(5)
DEFINE_BLOCKS(6)
DEFINE_BLOCKS(7)
DEFINE_BLOCKS(8)

typedef void block_function(const struct small_product *p, const float *a, const float *b, float *c, size_t k,
                            float beta, __mmask16 lanes, const float *added);
static block_function *const wide_blocks[] = {block_1_wide, block_2_wide, block_3_wide, block_4_wide,
                                              block_5_wide, block_6_wide, block_7_wide, block_8_wide};
static block_function *const narrow_blocks[] = {block_1_narrow, block_2_narrow, block_3_narrow,
                                                block_4_narrow, block_5_narrow, block_6_narrow,
                                                block_7_narrow, block_8_narrow};
static block_function *const masked_blocks[] = {block_1_masked, block_2_masked, block_3_masked,
                                                block_4_masked, block_5_masked, block_6_masked,
                                                block_7_masked, block_8_masked};

/* All rows of some columns of c, over k steps from `first` on. Rows come in eights, but the last sixteen or
 * fewer are halved: a block of few rows waits for its own sums. */
static void multiply_columns(const struct small_product *p, block_function *const *blocks, size_t column,
                             size_t first, size_t k, __mmask16 lanes) {
    const float *b = p->b + first * p->b_row + column;
    float beta = first == 0 ? p->beta : 1;
    const float *added = first == 0 && p->row != NULL ? p->row + column : NULL;
    for (size_t row = 0; row < p->m;) {
        size_t left = p->m - row, rows = left >= 2 * ROWS ? ROWS : left > ROWS ? (left + 1) / 2 : left;
        blocks[rows - 1](p, p->a + row * p->a_row + first * p->a_column, b, p->c + row * p->c_row + column, k,
                         beta, lanes, added);
        row += rows;
    }
}

void matrix_multiply_small_avx512(const struct small_product *p) {
    const __mmask16 lanes = (__mmask16)((1U << p->n % LANES) - 1);
    for (size_t first = 0; first < p->k || first == 0; first += K_BLOCK) {
        size_t k = p->k - first < K_BLOCK ? p->k - first : K_BLOCK, column = 0;
        for (; column + 2 * LANES <= p->n; column += 2 * LANES)
            multiply_columns(p, wide_blocks, column, first, k, lanes);
        if (column + LANES <= p->n) {
            multiply_columns(p, narrow_blocks, column, first, k, lanes);
            column += LANES;
        }
        if (column < p->n)
            multiply_columns(p, masked_blocks, column, first, k, lanes);
    }
}

#endif
