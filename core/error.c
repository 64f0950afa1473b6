/* The one error type: see error.h. */
#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *error, enum error_code code, const char *format, ...) {
    if (error == NULL || error->code != ERROR_NONE)
        return false;
    error->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error_trim_text(error->message);
    return false;
}

void error_trim_text(char *text) {
    size_t length = strlen(text), start = length;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char first = (unsigned char)text[start - 1];
    size_t whole = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    if (length - (start - 1) < whole)
        text[start - 1] = 0;
}

bool error_set_memory(struct error *error, unsigned long long bytes) {
    return error_set(error, ERROR_MEMORY, "out of memory: %llu bytes could not be allocated", bytes);
}
