/* Products of small matrices for processors with AVX2: see matrix_small.h.
 *
 * A block of 6 x 16 results stays in twelve registers while k runs; each step of k reads two vectors of b and
 * broadcasts six numbers of a (the scheme of Goto and van de Geijn 2008, without packing: everything is in
 * the first or second cache already). */
#include "core/math/matrix_small.h"

#if defined(__AVX2__)

#include "core/math/vector_avx2.h"

/* Steps of k after which a block is written back: what it reads of b meanwhile stays in the first cache. */
enum { K_BLOCK = 256, ROWS = 6 };

/* Some rows and vectors of c, plus `added` in every row (or NULL); the last vector through `lanes` if
 * `masked`. The counts are constants wherever this is inlined, so that `sum` becomes registers. */
static inline __attribute__((always_inline)) void
multiply_block(int rows, int vectors, int masked, const struct small_product *p, const float *a,
               const float *b, float *c, size_t k, float beta, __m256i lanes, const float *added) {
    __m256 sum[ROWS][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = _mm256_setzero_ps();
    for (size_t step = 0; step < k; step++) {
        __m256 row[2];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            row[j] = masked ? _mm256_maskload_ps(b + 8 * j, lanes) : _mm256_loadu_ps(b + 8 * j);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            __m256 factor = _mm256_broadcast_ss(a + (size_t)i * p->a_row);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sum[i][j] = _mm256_fmadd_ps(factor, row[j], sum[i][j]);
        }
        a += p->a_column;
        b += p->b_row;
    }
    const __m256 alpha = _mm256_set1_ps(p->alpha), keep = _mm256_set1_ps(beta);
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) {
            float *to = c + (size_t)i * p->c_row + 8 * j;
            __m256 value = _mm256_mul_ps(alpha, sum[i][j]);
            if (added != NULL)
                value = _mm256_add_ps(value, masked ? _mm256_maskload_ps(added, lanes)
                                                    : _mm256_loadu_ps(added + 8 * j));
            if (beta != 0)
                value = _mm256_fmadd_ps(keep, masked ? _mm256_maskload_ps(to, lanes) : _mm256_loadu_ps(to),
                                        value);
            if (masked)
                _mm256_maskstore_ps(to, lanes, value);
            else
                _mm256_storeu_ps(to, value);
        }
}

/* Functions of their own, so that no accumulator is spilled. */
#define DEFINE_BLOCK(name, rows, vectors, masked)                                                            \
    static __attribute__((noinline)) void name(const struct small_product *p, const float *a,                \
                                               const float *b, float *c, size_t k, float beta,               \
                                               __m256i lanes, const float *added) {                          \
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

typedef void block_function(const struct small_product *p, const float *a, const float *b, float *c, size_t k,
                            float beta, __m256i lanes, const float *added);
static block_function *const wide_blocks[] = {block_1_wide, block_2_wide, block_3_wide,
                                              block_4_wide, block_5_wide, block_6_wide};
static block_function *const narrow_blocks[] = {block_1_narrow, block_2_narrow, block_3_narrow,
                                                block_4_narrow, block_5_narrow, block_6_narrow};
static block_function *const masked_blocks[] = {block_1_masked, block_2_masked, block_3_masked,
                                                block_4_masked, block_5_masked, block_6_masked};

/* All rows of some columns of c, over k steps from `first` on. Rows come in sixes, but the last twelve or
 * fewer are halved: 16 rows are 6, 5, 5 rather than 6, 6, 4. */
static void multiply_columns(const struct small_product *p, block_function *const *blocks, size_t column,
                             size_t first, size_t k, __m256i lanes) {
    const float *b = p->b + first * p->b_row + column;
    float beta = first == 0 ? p->beta : 1;
    const float *added = first == 0 && p->row != NULL ? p->row + column : NULL;
    for (size_t row = 0; row < p->m;) {
        size_t left = p->m - row, rows = left > 2 * ROWS || left == ROWS ? ROWS
                                         : left > ROWS                   ? (left + 1) / 2
                                                                         : left;
        blocks[rows - 1](p, p->a + row * p->a_row + first * p->a_column, b, p->c + row * p->c_row + column, k,
                         beta, lanes, added);
        row += rows;
    }
}

void matrix_multiply_small_avx2(const struct small_product *p) {
    const __m256i lanes = vector_first_lanes((int)(p->n % 8));
    for (size_t first = 0; first < p->k || first == 0; first += K_BLOCK) {
        size_t k = p->k - first < K_BLOCK ? p->k - first : K_BLOCK, column = 0;
        for (; column + 16 <= p->n; column += 16)
            multiply_columns(p, wide_blocks, column, first, k, lanes);
        if (column + 8 <= p->n) {
            multiply_columns(p, narrow_blocks, column, first, k, lanes);
            column += 8;
        }
        if (column < p->n)
            multiply_columns(p, masked_blocks, column, first, k, lanes);
    }
}

static void transpose_8x8(const float *from, size_t from_row, float *to, size_t to_row) {
    __m256 block[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        block[i] = _mm256_loadu_ps(from + i * from_row);
    vector_transpose(block);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        _mm256_storeu_ps(to + i * to_row, block[i]);
}

void matrix_transpose_avx2(size_t rows, size_t columns, const float *from, size_t from_row, float *to) {
    size_t i = 0;
    for (; i + 8 <= rows; i += 8) {
        size_t j = 0;
        for (; j + 8 <= columns; j += 8)
            transpose_8x8(from + i * from_row + j, from_row, to + j * rows + i, rows);
        for (; j < columns; j++)
            for (size_t row = i; row < i + 8; row++)
                to[j * rows + row] = from[row * from_row + j];
    }
    for (; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * from_row + j];
}

enum { SUM_ROWS = 16, SUM_LEVELS = 4 };

/* Some vectors of columns side by side, a constant count wherever this is inlined; the levels are the plain
 * version's. */
static inline __attribute__((always_inline)) void add_sums_of(int vectors, const float *matrix, size_t rows,
                                                              size_t stride, __m256i lanes, float *sums) {
    __m256 levels[4][SUM_LEVELS];
    for (int j = 0; j < vectors; j++)
        for (int level = 0; level < SUM_LEVELS; level++)
            levels[j][level] = _mm256_setzero_ps();
    for (size_t i = 0; i < rows;) {
        size_t end = rows - i < SUM_ROWS ? rows : i + SUM_ROWS;
        for (; i < end; i++)
            for (int j = 0; j < vectors; j++)
                levels[j][0] =
                    _mm256_add_ps(levels[j][0], _mm256_maskload_ps(matrix + i * stride + 8 * j, lanes));
        size_t block = SUM_ROWS;
        for (int level = 1; level < SUM_LEVELS && i % block == 0; level++, block *= SUM_ROWS)
            for (int j = 0; j < vectors; j++) {
                levels[j][level] = _mm256_add_ps(levels[j][level], levels[j][level - 1]);
                levels[j][level - 1] = _mm256_setzero_ps();
            }
    }
    for (int j = 0; j < vectors; j++) {
        __m256 sum = _mm256_maskload_ps(sums + 8 * j, lanes);
        for (int level = 0; level < SUM_LEVELS; level++)
            sum = _mm256_add_ps(sum, levels[j][level]);
        _mm256_maskstore_ps(sums + 8 * j, lanes, sum);
    }
}

void matrix_add_column_sums_avx2(const float *matrix, size_t rows, size_t columns, float *sums) {
    size_t j = 0;
    for (; j + 32 <= columns; j += 32)
        add_sums_of(4, matrix + j, rows, columns, vector_first_lanes(8), sums + j);
    for (; j < columns; j += 8)
        add_sums_of(1, matrix + j, rows, columns,
                    vector_first_lanes(columns - j < 8 ? (int)(columns - j) : 8), sums + j);
}

#endif
