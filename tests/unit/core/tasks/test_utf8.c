/* UTF-8 and its characters: validity, lower case in many scripts, the four kinds. */
#include "core/tasks/utf8.h"
#include "tests/unit/main.h"

#include <stdbool.h>
#include <string.h>

enum { CODE_POINTS = 0x110000, FIRST_SURROGATE = 0xD800, LAST_SURROGATE = 0xDFFF };

static bool is_surrogate(uint32_t code_point) {
    return code_point >= FIRST_SURROGATE && code_point <= LAST_SURROGATE;
}

START_TEST(every_character_survives_encoding) {
    for (uint32_t code_point = 0; code_point < CODE_POINTS; code_point++) {
        if (is_surrogate(code_point))
            continue;
        char bytes[UTF8_MAXIMUM_LENGTH];
        uint32_t decoded = 0;
        size_t length = utf8_encode(code_point, bytes);
        if (utf8_decode(bytes, length, &decoded) != length || decoded != code_point)
            ck_abort_msg("U+%04X came back as U+%04X", code_point, decoded);
        if (utf8_decode(bytes, length - 1, &decoded) != 0)
            ck_abort_msg("U+%04X was read without its last byte", code_point);
    }
}
END_TEST

START_TEST(invalid_bytes_are_refused) {
    static const char *const invalid[] = {
        "\x80",             /* a continuation alone */
        "\xC3",             /* cut off */
        "\xC3(",            /* a lead without continuation */
        "\xC0\xAF",         /* overlong */
        "\xE0\x80\xAF",     /* overlong */
        "\xF0\x80\x80\xAF", /* overlong */
        "\xED\xA0\x80",     /* a surrogate */
        "\xF4\x90\x80\x80", /* above U+10FFFF */
        "\xF8\x88\x80\x80\x80",
        "\xFF",
    };
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        uint32_t code_point;
        ck_assert_msg(utf8_decode(invalid[i], strlen(invalid[i]), &code_point) == 0, "%zu", i);
    }
}
END_TEST

/* Capital and small letter. */
static const uint32_t pairs[][2] = {
    {'A', 'a'},         {'Z', 'z'},         {'[', '['},         {0xC9, 0xE9},   {0xD7, 0xD7},
    {0x130, 'i'},       {0x178, 0xFF},      {0x1E9E, 0xDF},     {0xDF, 0xDF},   {0x18F, 0x259},
    {0x1A0, 0x1A1},     {0x1AF, 0x1B0}, /* Latin Extended-B */
    {0x1C5, 0x1C6},     {0x23A, 0x2C65},    {0x24E, 0x24F},     {0x386, 0x3AC}, {0x3A9, 0x3C9},
    {0x1F08, 0x1F00},   {0x3A3, 0x3C3},     {0x3C2, 0x3C2}, /* sigma, wherever it stands; the final one is
                                                               small already */
    {0x401, 0x451},     {0x42F, 0x44F},     {0x4C0, 0x4CF},     {0x531, 0x561}, {0x10A0, 0x2D00},
    {0x1C90, 0x10D0},                                           /* Armenian, Georgian: old and Mtavruli */
    {0x13A0, 0xAB70},   {0x13F0, 0x13F8},   {0xAB70, 0xAB70},   /* Cherokee */
    {0x2C00, 0x2C30},   {0xA640, 0xA641},   {0xFF21, 0xFF41},   /* Glagolitic, Cyrillic, full width */
    {0x10400, 0x10428}, {0x104B0, 0x104D8}, {0x10C80, 0x10CC0}, /* Deseret, Osage, Old Hungarian */
    {0x118A0, 0x118C0}, {0x1E900, 0x1E922},                     /* Warang Citi, Adlam */
    {0x5D0, 0x5D0},     {0x4F60, 0x4F60},   {0x1F600, 0x1F600},
};

START_TEST(letters_of_every_script_become_lower_case) {
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        ck_assert_msg(utf8_to_lower(pairs[i][0]) == pairs[i][1], "U+%04X became U+%04X", pairs[i][0],
                      utf8_to_lower(pairs[i][0]));
        ck_assert_uint_eq(utf8_to_lower(pairs[i][1]), pairs[i][1]);
    }
}
END_TEST

/* The size of the tokenizer's buffer relies on this. */
START_TEST(lower_case_takes_at_most_half_as_much_again) {
    for (uint32_t code_point = 0; code_point < CODE_POINTS; code_point++) {
        char bytes[UTF8_MAXIMUM_LENGTH];
        if (is_surrogate(code_point))
            continue;
        size_t length = utf8_encode(code_point, bytes);
        if (2 * utf8_encode(utf8_to_lower(code_point), bytes) > 3 * length)
            ck_abort_msg("U+%04X", code_point);
    }
}
END_TEST

static const struct {
    uint32_t code_point;
    enum utf8_kind kind;
} kinds[] = {
    {0, UTF8_SPACE},
    {'\t', UTF8_SPACE},
    {' ', UTF8_SPACE},
    {0x7F, UTF8_SPACE},
    {0x85, UTF8_SPACE},
    {0xA0, UTF8_SPACE},
    {0xAD, UTF8_SPACE},
    {0x200B, UTF8_SPACE},
    {0x200D, UTF8_SPACE},
    {0x202E, UTF8_SPACE},
    {0x3000, UTF8_SPACE},
    {0xFEFF, UTF8_SPACE},
    {'0', UTF8_WORD},
    {'a', UTF8_WORD},
    {'Z', UTF8_WORD},
    {0xAA, UTF8_WORD},
    {0xB5, UTF8_WORD},
    {0xBD, UTF8_WORD},
    {0x301, UTF8_WORD},
    {0x5D0, UTF8_WORD},
    {0x5F4, UTF8_WORD},
    {0x663, UTF8_WORD},
    {0x915, UTF8_WORD},
    {0xAC00, UTF8_WORD},
    {0x2167, UTF8_WORD},
    {0x10400, UTF8_WORD},
    {0x3005, UTF8_IDEOGRAPH},
    {0x3042, UTF8_IDEOGRAPH},
    {0x4E2D, UTF8_IDEOGRAPH},
    {0x20000, UTF8_IDEOGRAPH},
    {'@', UTF8_PUNCTUATION},
    {'_', UTF8_PUNCTUATION},
    {'~', UTF8_PUNCTUATION},
    {0xA7, UTF8_PUNCTUATION},
    {0xD7, UTF8_PUNCTUATION},
    {0x589, UTF8_PUNCTUATION},
    {0x5BE, UTF8_PUNCTUATION},
    {0x6D4, UTF8_PUNCTUATION},
    {0x964, UTF8_PUNCTUATION},
    {0x1362, UTF8_PUNCTUATION},
    {0x2019, UTF8_PUNCTUATION},
    {0x20AC, UTF8_PUNCTUATION},
    {0x2764, UTF8_PUNCTUATION},
    {0x3002, UTF8_PUNCTUATION},
    {0xFE0F, UTF8_PUNCTUATION},
    {0x1F600, UTF8_PUNCTUATION},
    {0x1FAFF, UTF8_PUNCTUATION},
};

START_TEST(characters_are_of_four_kinds) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        ck_assert_msg(utf8_kind_of(kinds[i].code_point) == kinds[i].kind, "U+%04X is of kind %d",
                      kinds[i].code_point, (int)utf8_kind_of(kinds[i].code_point));
}
END_TEST

static void add_tests(TCase *tests) {
    tcase_add_test(tests, every_character_survives_encoding);
    tcase_add_test(tests, invalid_bytes_are_refused);
    tcase_add_test(tests, letters_of_every_script_become_lower_case);
    tcase_add_test(tests, lower_case_takes_at_most_half_as_much_again);
    tcase_add_test(tests, characters_are_of_four_kinds);
}
