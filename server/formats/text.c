/* A growable run of bytes: see text.h. */
#include "server/formats/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes room for `size` more bytes and the NUL. */
static bool text_reserve(struct text *text, size_t size) {
    if (text->failed)
        return false;
    if (size < text->capacity - text->length)
        return true;
    size_t maximum = text->maximum > 0 ? text->maximum : TEXT_SMALL;
    if (size > maximum - text->length) {
        text->failed = true;
        return false;
    }
    size_t capacity = text->capacity < 128 ? 256 : text->capacity * 2;
    if (capacity < text->length + size + 1)
        capacity = text->length + size + 1;
    if (capacity > maximum && maximum < TEXT_UNLIMITED)
        capacity = maximum + 1;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void text_allow(struct text *text, size_t maximum) {
    text->maximum = maximum;
}

void text_append(struct text *text, const void *bytes, size_t size) {
    if (!text_reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->bytes + text->length, bytes, size);
    text->length += size;
    text->bytes[text->length] = '\0';
}

void text_append_string(struct text *text, const char *string) {
    text_append(text, string, strlen(string));
}

void text_append_format(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0 || !text_reserve(text, (size_t)size)) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text->bytes + text->length, (size_t)size + 1, format, arguments);
    va_end(arguments);
    text->length += (size_t)size;
}

void text_adopt(struct text *text, void *bytes, size_t size) {
    *text = (struct text){.bytes = bytes, .length = size, .capacity = size, .maximum = size};
}

void text_free(struct text *text) {
    free(text->bytes);
    *text = (struct text){0};
}

char *text_release(struct text *text) {
    char *bytes = text->bytes;
    assert(text->failed || text->nesting.depth == 0);
    if (text->failed) {
        free(bytes);
        bytes = NULL;
    }
    *text = (struct text){0};
    return bytes;
}
