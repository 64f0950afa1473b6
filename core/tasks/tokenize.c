/* Splits a text into tokens: see tokenize.h. */
#include "core/tasks/tokenize.h"

#include "core/tasks/utf8.h"

#include <stdlib.h>

struct character {
    uint32_t code_point; /* lower case */
    size_t length;       /* in bytes of the text */
    enum utf8_kind kind;
};

/* The character at the start of `text`; a space if the byte is invalid or `size` is 0. */
static struct character character_at(const char *text, size_t size) {
    struct character character = {' ', size > 0 ? 1 : 0, UTF8_SPACE};
    uint32_t code_point = 0;
    size_t length = utf8_decode(text, size, &code_point);
    if (length > 0) {
        code_point = utf8_to_lower(code_point);
        character = (struct character){code_point, length, utf8_kind_of(code_point)};
    }
    return character;
}

static bool is_apostrophe(uint32_t code_point) {
    return code_point == '\'' || code_point == 0x2019;
}

/* Reads the token that starts with `first` at text[start]: writes it to `token` in lower case, sets its
 * length and returns the position of its end in the text. */
static size_t read_token(const char *text, size_t size, size_t start, struct character first, char *token,
                         size_t *token_length) {
    size_t end = start + first.length;
    size_t length = utf8_encode(first.code_point, token);
    while (end < size && first.kind != UTF8_IDEOGRAPH) {
        struct character next = character_at(text + end, size - end);
        size_t skipped = 0;
        if (first.kind == UTF8_WORD && is_apostrophe(next.code_point)) {
            skipped = next.length;
            next = character_at(text + end + skipped, size - end - skipped);
        }
        bool goes_on = first.kind == UTF8_WORD ? next.kind == UTF8_WORD : next.code_point == first.code_point;
        if (!goes_on)
            break;
        if (skipped > 0)
            token[length++] = '\'';
        length += utf8_encode(next.code_point, token + length);
        end += skipped + next.length;
    }
    *token_length = length;
    return end;
}

bool tokenize_text(const char *text, size_t size, tokenize_visitor *visit, void *owner) {
    /* The lower case of a letter of two bytes can take three. */
    char *token = malloc(size + size / 2 + UTF8_MAXIMUM_LENGTH);
    if (token == NULL)
        return false;
    bool going = true;
    size_t position = 0;
    while (going && position < size) {
        struct character first = character_at(text + position, size - position);
        if (first.kind == UTF8_SPACE) {
            position += first.length;
            continue;
        }
        size_t length = 0;
        position = read_token(text, size, position, first, token, &length);
        going = visit(owner, token, length);
    }
    free(token);
    return going;
}
