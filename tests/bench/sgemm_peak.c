/* Prints the GFLOP/s at which this machine multiplies single-precision matrices of 1024 x 1024 on one thread,
 * the best of ten. The benchmark reports each model's speed as a share of it. */
#include "core/math/arena.h"
#include "core/math/matrix.h"

#include <stdio.h>
#include <time.h>

enum { SIZE = 1024, REPEATS = 10 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void) {
    struct arena arena;
    size_t count = (size_t)SIZE * SIZE;
    if (!arena_init(&arena, 3 * count * sizeof(float), NULL))
        return 1;
    float *a = arena_floats(&arena, count), *b = arena_floats(&arena, count),
          *c = arena_floats(&arena, count);
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] = (float)(i % 7) - 3;
    matrix_use_one_thread();
    double best = 0;
    for (int i = 0; i < REPEATS; i++) {
        double start = seconds_now();
        matrix_multiply(SIZE, SIZE, SIZE, 1, a, SIZE, b, SIZE, 0, c, SIZE);
        double speed = 2.0 * SIZE * SIZE * SIZE / (seconds_now() - start) / 1e9;
        best = speed > best ? speed : best;
    }
    arena_free(&arena);
    printf("%.1f\n", best);
    return 0;
}
