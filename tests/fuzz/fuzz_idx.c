/* IDX files. Whatever the bytes, idx_parse gives values that lie entirely within them, or an error. */
#include "core/tasks/idx.h"

#include <stdlib.h>

enum { COUNT_LIMIT = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    struct idx_array array;
    struct error error = {0};
    if (!idx_parse(bytes, size, COUNT_LIMIT, &array, &error)) {
        if (array.values != NULL || error.code == ERROR_NONE)
            abort();
        return 0;
    }
    size_t count = 1, sum = 0;
    for (size_t i = 0; i < array.rank; i++)
        count *= array.shape[i];
    for (size_t i = 0; i < array.count; i++)
        sum += array.values[i];
    if (count != array.count || count > COUNT_LIMIT || sum > count * UINT8_MAX)
        abort();
    idx_free(&array);
    return 0;
}
