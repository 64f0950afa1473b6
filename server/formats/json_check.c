/* A JSON recogniser that allocates nothing: see json_check.h. It reads from left to right and keeps the kinds
 * of the open containers in one word, as the writer does. */
#include "server/formats/json_check.h"

#include "core/tasks/utf8.h"
#include "server/formats/json_writer.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Each of these returns the end of what it reads, or NULL if something else is there. */

static const char *skip_digits(const char *at) {
    if (!isdigit((unsigned char)*at))
        return NULL;
    while (isdigit((unsigned char)*at))
        at++;
    return at;
}

static const char *skip_number(const char *at) {
    at += *at == '-';
    at = *at == '0' ? at + 1 : skip_digits(at);
    if (at != NULL && *at == '.')
        at = skip_digits(at + 1);
    if (at != NULL && (*at == 'e' || *at == 'E')) {
        at++;
        at += *at == '+' || *at == '-';
        at = skip_digits(at);
    }
    return at;
}

static const char *skip_escape(const char *at) {
    if (*at == 'u') {
        for (int i = 1; i <= 4; i++)
            if (!isxdigit((unsigned char)at[i]))
                return NULL;
        return at + 5;
    }
    return *at != '\0' && strchr("\"\\/bfnrt", *at) != NULL ? at + 1 : NULL;
}

static const char *skip_character(const char *at) {
    uint32_t code_point;
    unsigned char byte = (unsigned char)*at;
    if (byte == '\\')
        return skip_escape(at + 1);
    if (byte < 0x20)
        return NULL;
    if (byte < 0x80)
        return at + 1;
    size_t length = utf8_decode(at, strnlen(at, UTF8_MAXIMUM_LENGTH), &code_point);
    return length > 0 ? at + length : NULL;
}

static const char *skip_string(const char *at) {
    if (*at++ != '"')
        return NULL;
    while (at != NULL && *at != '"')
        at = skip_character(at);
    return at != NULL ? at + 1 : NULL;
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t");
}

static const char *skip_word(const char *at, const char *word) {
    size_t length = strlen(word);
    return strncmp(at, word, length) == 0 ? at + length : NULL;
}

static const char *skip_scalar(const char *at) {
    switch (*at) {
    case '"':
        return skip_string(at);
    case 't':
        return skip_word(at, "true");
    case 'f':
        return skip_word(at, "false");
    case 'n':
        return skip_word(at, "null");
    default:
        return skip_number(at);
    }
}

/* Reads a member's key and its colon, up to the value. */
static const char *skip_key(const char *at) {
    at = skip_string(at);
    if (at == NULL)
        return NULL;
    at = skip_blanks(at);
    return *at == ':' ? skip_blanks(at + 1) : NULL;
}

struct nesting {
    uint64_t is_object; /* a bit for each open container, the outermost lowest */
    int depth;
};

static bool in_object(const struct nesting *nesting) {
    return nesting->depth > 0 && (nesting->is_object >> (nesting->depth - 1)) & 1;
}

/* After a value: closes containers, and goes past the comma before the next value if there is one. */
static const char *close_containers(const char *at, struct nesting *nesting) {
    for (at = skip_blanks(at); nesting->depth > 0; at = skip_blanks(at)) {
        if (*at == ',') {
            at = skip_blanks(at + 1);
            return in_object(nesting) ? skip_key(at) : at;
        }
        if (*at++ != (in_object(nesting) ? '}' : ']'))
            return NULL;
        nesting->depth--;
    }
    return at;
}

/* Opens a container. *is_empty: it is closed at once. */
static const char *open_container(const char *at, struct nesting *nesting, bool *is_empty) {
    bool is_object = *at == '{';
    if (nesting->depth == JSON_DEPTH_LIMIT)
        return NULL;
    uint64_t bit = (uint64_t)1 << nesting->depth++;
    nesting->is_object = is_object ? nesting->is_object | bit : nesting->is_object & ~bit;
    at = skip_blanks(at + 1);
    *is_empty = *at == (is_object ? '}' : ']');
    return is_object && !*is_empty ? skip_key(at) : at;
}

enum json_kind json_check(const char *text) {
    struct nesting nesting = {0};
    if (text == NULL)
        return JSON_KIND_NONE;
    const char *at = skip_blanks(text);
    enum json_kind kind = *at == '{' ? JSON_KIND_OBJECT : *at == '[' ? JSON_KIND_ARRAY : JSON_KIND_OTHER;
    do {
        bool is_complete = true;
        if (*at == '{' || *at == '[')
            at = open_container(at, &nesting, &is_complete);
        else
            at = skip_scalar(at);
        if (at != NULL && is_complete)
            at = close_containers(at, &nesting);
    } while (at != NULL && nesting.depth > 0);
    return at != NULL && *at == '\0' ? kind : JSON_KIND_NONE;
}
