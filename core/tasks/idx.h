/* The IDX format of the MNIST family of data sets (LeCun's file format), plain or gzip'd.
 *
 * A file has two zero bytes, a type (8: bytes, the only type supported here), the number of dimensions, each
 * dimension as a big-endian 32-bit number, and the values, row-major. The header determines the length of the
 * file, so a gzip'd one is inflated only that far, and never beyond a limit. */
#ifndef ATTNLAB_CORE_TASKS_IDX_H
#define ATTNLAB_CORE_TASKS_IDX_H

#include "core/error.h"

#include <stddef.h>
#include <stdint.h>

enum { IDX_RANK_LIMIT = 4 };

/* Zero-initialise; free with idx_free. */
struct idx_array {
    size_t rank;
    size_t shape[IDX_RANK_LIMIT]; /* each at least 1 */
    size_t count;                 /* the product of shape[0 .. rank) */
    uint8_t *values;              /* owned, [count] */
};

/* ERROR_INVALID if the file is not IDX, truncated, too long or damaged (gzip's checksum is checked);
 * ERROR_TOO_LARGE if it has more than `count_limit` values. The message continues a sentence that starts with
 * the file's name. */
bool idx_parse(const void *bytes, size_t size, size_t count_limit, struct idx_array *array,
               struct error *error);
void idx_free(struct idx_array *array);

#endif
