/* The 256 strips of equal area that numpy's ziggurat lays over the normal density (Marsaglia and Tsang 2000).
 *
 * The numbers are committed because this machine's exp may differ from the one that made numpy's. */
#ifndef ATTNLAB_CORE_RANDOM_NUMPY_ZIGGURAT_H
#define ATTNLAB_CORE_RANDOM_NUMPY_ZIGGURAT_H

#include <stdint.h>

enum { NUMPY_ZIGGURAT_STRIPS = 256 };

struct numpy_ziggurat_strip {
    uint64_t limit; /* a 52-bit draw below this certainly lies under the density */
    double width;   /* a 52-bit draw times this is the value */
    double density; /* exp(-x^2 / 2) at the strip's edge */
};

extern const struct numpy_ziggurat_strip numpy_ziggurat[NUMPY_ZIGGURAT_STRIPS];

#endif
