/* Products of small matrices, over lanes: see matrix_kernels.h.
 *
 * A block of results, two vectors wide, stays in registers while k runs: 6 x 16 for AVX2, 8 x 32 for AVX-512.
 * Each step of k reads two vectors of b and broadcasts a number of a for every row (the scheme of Goto and
 * van de Geijn 2008, without packing: everything is in the first or second cache already). A result is the
 * same chain of operations whatever the block, so sets with a fused multiply-add agree to the bit. */
#include "core/math/matrix_kernels.h"

#include "core/math/lanes/lanes.h"

#if defined(LANES_BLOCK_ROWS)

/* A block is written back after this many steps of k, so that the part of b that it reads stays in the
 * first-level cache. */
enum { K_BLOCK = 256, ROWS = LANES_BLOCK_ROWS };

/* Computes some rows and vectors of c; adds `added` to every row unless it is NULL; accesses the last vector
 * through `part` if `masked`. The counts are constants wherever this is inlined, so that `sum` stays in
 * registers. */
LANES_INLINE void multiply_block(int rows, int vectors, int masked, const struct small_product *p,
                                 const float *a, const float *b, float *c, size_t k, float beta,
                                 lanes_part part, const float *added) {
    lanes sum[ROWS][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            sum[i][j] = lanes_zero();
    for (size_t step = 0; step < k; step++) {
        lanes row[2];
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++)
            row[j] = masked ? lanes_load_part(b + LANES * j, part) : lanes_load(b + LANES * j);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            lanes factor = lanes_broadcast(a[(size_t)i * p->a_row]);
#pragma GCC unroll 2
            for (int j = 0; j < vectors; j++)
                sum[i][j] = lanes_multiply_add(factor, row[j], sum[i][j]);
        }
        a += p->a_column;
        b += p->b_row;
    }
    const lanes alpha = lanes_broadcast(p->alpha), keep = lanes_broadcast(beta);
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < vectors; j++) {
            float *to = c + (size_t)i * p->c_row + LANES * j;
            lanes value = lanes_multiply(alpha, sum[i][j]);
            if (added != NULL)
                value =
                    lanes_add(value, masked ? lanes_load_part(added, part) : lanes_load(added + LANES * j));
            if (beta != 0)
                value = lanes_multiply_add(keep, masked ? lanes_load_part(to, part) : lanes_load(to), value);
            if (masked)
                lanes_store_part(to, part, value);
            else
                lanes_store(to, value);
        }
}

/* These are separate functions so that the compiler spills no accumulator. */
#define DEFINE_BLOCK(name, rows, vectors, masked)                                                            \
    static __attribute__((noinline)) void name(const struct small_product *p, const float *a,                \
                                               const float *b, float *c, size_t k, float beta,               \
                                               lanes_part part, const float *added) {                        \
        multiply_block(rows, vectors, masked, p, a, b, c, k, beta, part, added);                             \
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
#if LANES_BLOCK_ROWS == 8
DEFINE_BLOCKS(7)
DEFINE_BLOCKS(8)
#define BLOCKS(kind)                                                                                         \
    {                                                                                                        \
        block_1_##kind, block_2_##kind, block_3_##kind, block_4_##kind, block_5_##kind, block_6_##kind,      \
            block_7_##kind, block_8_##kind                                                                   \
    }
#else
#define BLOCKS(kind)                                                                                         \
    { block_1_##kind, block_2_##kind, block_3_##kind, block_4_##kind, block_5_##kind, block_6_##kind }
#endif

typedef void block_function(const struct small_product *p, const float *a, const float *b, float *c, size_t k,
                            float beta, lanes_part part, const float *added);
static block_function *const wide_blocks[ROWS] = BLOCKS(wide);
static block_function *const narrow_blocks[ROWS] = BLOCKS(narrow);
static block_function *const masked_blocks[ROWS] = BLOCKS(masked);

/* Computes all rows of some columns of c over k steps from `first` on. It takes the rows in blocks, but
 * halves the last rows if they fill at most two blocks (16 rows in blocks of six are 6, 5, 5), because a
 * block of few rows stalls on its own sums. */
static void multiply_columns(const struct small_product *p, block_function *const *blocks, size_t column,
                             size_t first, size_t k, lanes_part part) {
    const float *b = p->b + first * p->b_row + column;
    float beta = first == 0 ? p->beta : 1;
    const float *added = first == 0 && p->row != NULL ? p->row + column : NULL;
    for (size_t row = 0; row < p->m;) {
        size_t left = p->m - row, rows = left >= 2 * ROWS ? ROWS : left > ROWS ? (left + 1) / 2 : left;
        blocks[rows - 1](p, p->a + row * p->a_row + first * p->a_column, b, p->c + row * p->c_row + column, k,
                         beta, part, added);
        row += rows;
    }
}

static void multiply_small(const struct small_product *p) {
    const lanes_part part = lanes_first(p->n % LANES);
    for (size_t first = 0; first < p->k || first == 0; first += K_BLOCK) {
        size_t k = p->k - first < K_BLOCK ? p->k - first : K_BLOCK, column = 0;
        for (; column + 2 * LANES <= p->n; column += 2 * LANES)
            multiply_columns(p, wide_blocks, column, first, k, part);
        if (column + LANES <= p->n) {
            multiply_columns(p, narrow_blocks, column, first, k, part);
            column += LANES;
        }
        if (column < p->n)
            multiply_columns(p, masked_blocks, column, first, k, part);
    }
}

#endif

#if LANES == 8

static void transpose_block(const float *from, size_t from_row, float *to, size_t to_row) {
    lanes block[LANES];
#pragma GCC unroll 8
    for (size_t i = 0; i < LANES; i++)
        block[i] = lanes_load(from + i * from_row);
    lanes_transpose(block);
#pragma GCC unroll 8
    for (size_t i = 0; i < LANES; i++)
        lanes_store(to + i * to_row, block[i]);
}

void IN_SET(matrix_transpose)(size_t rows, size_t columns, const float *from, size_t from_row, float *to) {
    size_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        size_t j = 0;
        for (; j + LANES <= columns; j += LANES)
            transpose_block(from + i * from_row + j, from_row, to + j * rows + i, rows);
        for (; j < columns; j++)
            for (size_t row = i; row < i + LANES; row++)
                to[j * rows + row] = from[row * from_row + j];
    }
    for (; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            to[j * rows + i] = from[i * from_row + j];
}

enum { SUM_ROWS = 16, SUM_LEVELS = 4 };

/* Computes some adjacent vectors of columns; their number is a constant wherever this is inlined. */
LANES_INLINE void add_sums_of(int vectors, const float *matrix, size_t rows, size_t stride, lanes_part part,
                              float *sums) {
    lanes levels[4][SUM_LEVELS];
    for (int j = 0; j < vectors; j++)
        for (int level = 0; level < SUM_LEVELS; level++)
            levels[j][level] = lanes_zero();
    for (size_t i = 0; i < rows;) {
        size_t end = rows - i < SUM_ROWS ? rows : i + SUM_ROWS;
        for (; i < end; i++)
            for (int j = 0; j < vectors; j++)
                levels[j][0] =
                    lanes_add(levels[j][0], lanes_load_part(matrix + i * stride + LANES * j, part));
        size_t block = SUM_ROWS;
        for (int level = 1; level < SUM_LEVELS && i % block == 0; level++, block *= SUM_ROWS)
            for (int j = 0; j < vectors; j++) {
                levels[j][level] = lanes_add(levels[j][level], levels[j][level - 1]);
                levels[j][level - 1] = lanes_zero();
            }
    }
    for (int j = 0; j < vectors; j++) {
        lanes sum = lanes_load_part(sums + LANES * j, part);
        for (int level = 0; level < SUM_LEVELS; level++)
            sum = lanes_add(sum, levels[j][level]);
        lanes_store_part(sums + LANES * j, part, sum);
    }
}

void IN_SET(matrix_add_column_sums)(const float *matrix, size_t rows, size_t columns, float *sums) {
    size_t j = 0;
    for (; j + 4 * LANES <= columns; j += 4 * LANES)
        add_sums_of(4, matrix + j, rows, columns, lanes_first(LANES), sums + j);
    for (; j < columns; j += LANES)
        add_sums_of(1, matrix + j, rows, columns, lanes_part_at(j, columns), sums + j);
}

#endif

const struct matrix_kernels IN_SET(matrix_kernels) = {
#if defined(LANES_BLOCK_ROWS)
    .multiply_small = multiply_small,
#endif
    .transpose = IN_EIGHT_LANES(matrix_transpose),
    .add_column_sums = IN_EIGHT_LANES(matrix_add_column_sums),
};
