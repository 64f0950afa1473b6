/* The one error type: see error.h. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>

bool error_set(struct error *error, enum error_code code, const char *format, ...) {
    if (error == NULL || error->code != ERROR_NONE)
        return false;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return false;
}

bool error_set_memory(struct error *error, unsigned long long bytes) {
    return error_set(error, ERROR_MEMORY, "out of memory: %llu bytes could not be allocated", bytes);
}
