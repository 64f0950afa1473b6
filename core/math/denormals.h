/* Temporarily treats denormal numbers as zero.
 *
 * Gradients of an RNN underflow, and arithmetic on denormals is many times slower. Training flushes them to
 * zero: every thread that works on a step sets this mode and then restores the previous one. gradient-reach
 * does not, because it measures how small gradients become. */
#ifndef ATTNLAB_CORE_MATH_DENORMALS_H
#define ATTNLAB_CORE_MATH_DENORMALS_H

#if defined(__SSE__)
#include <xmmintrin.h>

static inline unsigned denormals_flush(void) {
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040); /* flush to zero, denormals are zero */
    return before;
}

static inline void denormals_restore(unsigned before) {
    _mm_setcsr(before);
}
#else
static inline unsigned denormals_flush(void) {
    return 0;
}

static inline void denormals_restore(unsigned before) {
    (void)before;
}
#endif

#endif
