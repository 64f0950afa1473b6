/* UTF-8 with utf8proc, and kinds of characters from their general category: see utf8.h. */
#include "core/tasks/utf8.h"

#include <stdbool.h>
#include <utf8proc.h>

/* Most text is ASCII. Handling it here, without the library, halves the tokenizer's time. */
enum { ASCII_END = 0x80 };

size_t utf8_decode(const char *bytes, size_t size, uint32_t *code_point) {
    if (size > 0 && (unsigned char)bytes[0] < ASCII_END) {
        *code_point = (unsigned char)bytes[0];
        return 1;
    }
    utf8proc_int32_t decoded = 0;
    utf8proc_ssize_t length =
        utf8proc_iterate((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)size, &decoded);
    if (length <= 0)
        return 0;
    *code_point = (uint32_t)decoded;
    return (size_t)length;
}

size_t utf8_encode(uint32_t code_point, char bytes[UTF8_MAXIMUM_LENGTH]) {
    return (size_t)utf8proc_encode_char((utf8proc_int32_t)code_point, (utf8proc_uint8_t *)bytes);
}

uint32_t utf8_to_lower(uint32_t code_point) {
    if (code_point < ASCII_END)
        return code_point >= 'A' && code_point <= 'Z' ? code_point + ('a' - 'A') : code_point;
    return (uint32_t)utf8proc_tolower((utf8proc_int32_t)code_point);
}

static enum utf8_kind find_ascii_kind(uint32_t c) {
    if (c <= ' ' || c == 0x7F)
        return UTF8_SPACE;
    bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return is_word ? UTF8_WORD : UTF8_PUNCTUATION;
}

/* Kana and Han with their iteration marks. utf8proc does not know scripts, so these are Unicode's blocks. */
static bool is_ideograph(uint32_t c) {
    return (c >= 0x3005 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
           (c >= 0x20000 && c <= 0x3FFFF);
}

/* Characters whose use differs from their category: variation selectors are marks, but select an emoji's
 * picture; geresh and gershayim are punctuation, but stand inside Hebrew words; and characters in the emoji
 * blocks that were unassigned when this version of utf8proc was released will be emoji. */
static bool find_exception(uint32_t c, enum utf8_kind *kind) {
    bool is_hebrew_mark = c == 0x5F3 || c == 0x5F4;
    bool is_emoji = (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0x1F000 && c <= 0x1FAFF);
    *kind = is_hebrew_mark ? UTF8_WORD : UTF8_PUNCTUATION;
    return is_hebrew_mark || is_emoji;
}

enum utf8_kind utf8_kind_of(uint32_t code_point) {
    if (code_point < ASCII_END)
        return find_ascii_kind(code_point);
    enum utf8_kind exception;
    if (find_exception(code_point, &exception))
        return exception;
    switch (utf8proc_category((utf8proc_int32_t)code_point)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
        return UTF8_SPACE;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO:
        return UTF8_PUNCTUATION;
    default:
        return is_ideograph(code_point) ? UTF8_IDEOGRAPH : UTF8_WORD;
    }
}
