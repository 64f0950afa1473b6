/* A growable run of bytes: what answers, events and files are built in.
 *
 * Zero-initialised it is empty. An allocation that fails is remembered in `failed` and later appends do
 * nothing, so that a caller builds the whole text and looks once. `bytes` is always NUL-terminated once
 * anything was appended. */
#ifndef ATTNLAB_SERVER_FORMATS_TEXT_H
#define ATTNLAB_SERVER_FORMATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes;
    size_t length;
    size_t capacity;
    bool failed;
};

void text_append(struct text *text, const void *bytes, size_t size);
void text_append_string(struct text *text, const char *string);
void text_append_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_free(struct text *text);

/* The bytes, now the caller's (release with free()); the text is empty again. NULL if an append failed. */
char *text_release(struct text *text);

#endif
