/* UTF-8 decoding, lower case, kinds of character: see utf8.h. */
#include "core/tasks/utf8.h"

#include <stdbool.h>

size_t utf8_decode(const char *bytes, size_t size, uint32_t *code_point) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (size == 0)
        return 0;
    unsigned char lead = (unsigned char)bytes[0];
    if (lead < 0x80) {
        *code_point = lead;
        return 1;
    }
    size_t length = lead >= 0xF0 && lead < 0xF8   ? 4
                    : lead >= 0xE0 && lead < 0xF0 ? 3
                    : lead >= 0xC0 && lead < 0xE0 ? 2
                                                  : 0;
    if (length == 0 || length > size)
        return 0;
    uint32_t value = lead & (0x7FU >> length);
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)bytes[i];
        if ((next & 0xC0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3FU);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 0;
    *code_point = value;
    return length;
}

size_t utf8_encode(uint32_t code_point, char bytes[4]) {
    if (code_point < 0x80) {
        bytes[0] = (char)code_point;
        return 1;
    }
    size_t length = code_point < 0x800 ? 2 : code_point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80U | (code_point & 0x3F));
        code_point >>= 6;
    }
    bytes[0] = (char)(lead[length] | code_point);
    return length;
}

/* In most of Latin Extended, capital and small letter alternate: in some blocks the even code points are the
 * capitals, in others the odd ones. */
static bool is_capital_of_pair(uint32_t c) {
    if ((c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177) || (c >= 0x1DE && c <= 0x1EF) ||
        (c >= 0x1F8 && c <= 0x21F) || (c >= 0x222 && c <= 0x233) || (c >= 0x460 && c <= 0x481) ||
        (c >= 0x48A && c <= 0x4BF) || (c >= 0x4D0 && c <= 0x52F) || (c >= 0x1E00 && c <= 0x1E95) ||
        (c >= 0x1EA0 && c <= 0x1EFF))
        return c % 2 == 0;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E) || (c >= 0x1CD && c <= 0x1DC) ||
        (c >= 0x4C1 && c <= 0x4CE))
        return c % 2 == 1;
    return false;
}

uint32_t utf8_to_lower(uint32_t c) {
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    if (c >= 0xC0 && c <= 0xDE && c != 0xD7) /* Latin-1; U+00D7 is the multiplication sign */
        return c + 32;
    if (c == 0x130) /* dotted capital I */
        return 'i';
    if (c == 0x178)
        return 0xFF;
    if (c == 0x1E9E) /* capital sharp s */
        return 0xDF;
    if (is_capital_of_pair(c))
        return c + 1;
    if (c == 0x386)
        return 0x3AC;
    if (c >= 0x388 && c <= 0x38A)
        return c + 37;
    if (c == 0x38C)
        return 0x3CC;
    if (c == 0x38E || c == 0x38F)
        return c + 63;
    if (c >= 0x391 && c <= 0x3AB && c != 0x3A2) /* Greek */
        return c + 32;
    if (c >= 0x410 && c <= 0x42F) /* Cyrillic */
        return c + 32;
    if (c >= 0x400 && c <= 0x40F)
        return c + 80;
    if (c >= 0x531 && c <= 0x556) /* Armenian */
        return c + 48;
    return c;
}

static bool is_space(uint32_t c) {
    return c <= 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) || (c >= 0x205F && c <= 0x206F) ||
           c == 0x3000 || c == 0xFEFF;
}

static bool is_punctuation(uint32_t c) {
    if (c < 0x80)
        return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
    if (c <= 0xBF) /* Latin-1 signs, but for the ordinals, the micro sign, small digits and fractions */
        return c != 0xAA && c != 0xB2 && c != 0xB3 && c != 0xB5 && c != 0xB9 && c != 0xBA &&
               (c < 0xBC || c > 0xBE);
    return c == 0xD7 || c == 0xF7 || c == 0x37E || c == 0x387 || (c >= 0x55A && c <= 0x55F) || c == 0x589 ||
           c == 0x60C || c == 0x61B || c == 0x61F || c == 0x964 || c == 0x965 ||
           (c >= 0x2010 && c <= 0x205E) || (c >= 0x20A0 && c <= 0x20CF) || (c >= 0x2100 && c <= 0x2BFF) ||
           (c >= 0x3001 && c <= 0x303F) || (c >= 0xFE00 && c <= 0xFE6F) || (c >= 0xFF01 && c <= 0xFF0F) ||
           (c >= 0xFF1A && c <= 0xFF20) || (c >= 0xFF3B && c <= 0xFF40) || (c >= 0xFF5B && c <= 0xFF65) ||
           (c >= 0x1F000 && c <= 0x1FAFF);
}

enum utf8_kind utf8_kind_of(uint32_t c) {
    if (is_space(c))
        return UTF8_SPACE;
    if (is_punctuation(c))
        return UTF8_PUNCTUATION;
    if ((c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
        (c >= 0x20000 && c <= 0x3FFFF))
        return UTF8_IDEOGRAPH;
    return UTF8_WORD;
}
