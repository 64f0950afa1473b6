/* UTF-8: strict decoding, lower case, and the kinds of characters.
 *
 * A thin layer over utf8proc, which has the Unicode character database. These functions use attnlab's types,
 * and divide Unicode's categories into the four kinds that a tokenizer needs. */
#ifndef ATTNLAB_CORE_TASKS_UTF8_H
#define ATTNLAB_CORE_TASKS_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum utf8_kind {
    UTF8_SPACE,      /* separates tokens: blanks, controls, zero-width marks */
    UTF8_WORD,       /* letters, digits, combining marks: runs of them are words */
    UTF8_IDEOGRAPH,  /* written without spaces between words: a token of its own */
    UTF8_PUNCTUATION /* everything else: punctuation, symbols, emoji */
};

enum { UTF8_MAXIMUM_LENGTH = 4 }; /* bytes of one character */

/* Decodes the character at bytes[0 .. size). Returns its length in bytes, or 0 if it is not valid UTF-8
 * (truncated, overlong, a surrogate, above U+10FFFF) or `size` is 0. */
size_t utf8_decode(const char *bytes, size_t size, uint32_t *code_point);
/* Writes the character and returns its length in bytes, at most 4. */
size_t utf8_encode(uint32_t code_point, char bytes[UTF8_MAXIMUM_LENGTH]);

/* Unicode's simple lower case: one character becomes one. Its UTF-8 may be longer: two bytes can become
 * three.
 */
uint32_t utf8_to_lower(uint32_t code_point);
enum utf8_kind utf8_kind_of(uint32_t code_point);

#endif
