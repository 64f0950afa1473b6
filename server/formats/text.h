/* A growable run of bytes, for building answers, events and files.
 *
 * A zero-initialised text is empty. If an allocation fails, `failed` is set and later appends do nothing, so
 * that a caller can build the whole text and check once. Once anything has been appended, `bytes` is
 * NUL-terminated.
 *
 * So that no answer grows without a limit, a text fails beyond TEXT_SMALL bytes unless text_allow has set
 * another. */
#ifndef ATTNLAB_SERVER_FORMATS_TEXT_H
#define ATTNLAB_SERVER_FORMATS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What json_writer.h has opened in a text. Bit d describes the container at depth d; depth 0 is the text. */
struct json_nesting {
    uint64_t is_object; /* an object, not an array */
    uint64_t has_value; /* the next value needs a comma */
    unsigned depth;
};

enum { TEXT_SMALL = 1 << 20 };
#define TEXT_UNLIMITED ((size_t)-1)

struct text {
    char *bytes;
    size_t length;
    size_t capacity;
    size_t maximum; /* the most bytes, without the NUL; 0: TEXT_SMALL */
    bool failed;
    struct json_nesting nesting;
};

/* Lets an empty text grow to `maximum` bytes. Texts outside of answers may have TEXT_UNLIMITED, where
 * something else limits them. */
void text_allow(struct text *text, size_t maximum);
void text_append(struct text *text, const void *bytes, size_t size);
void text_append_string(struct text *text, const char *string);
void text_append_format(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes `bytes` (malloc, `size` of them) the whole of an empty text, which takes them over. */
void text_adopt(struct text *text, void *bytes, size_t size);
void text_free(struct text *text);

/* Empties the text and returns its bytes, which the caller releases with free(). NULL if an append failed.
 * JSON in it must be complete. */
char *text_release(struct text *text);

#endif
