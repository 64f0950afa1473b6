/* Writes JSON into a text: see json_writer.h. For numbers see json_number.c. */
#include "server/formats/json_writer.h"

#include "core/tasks/utf8.h"

#include <assert.h>
#include <string.h>

/* The bit of struct json_nesting for the innermost open container. */
static uint64_t current(const struct json_nesting *nesting) {
    return (uint64_t)1 << nesting->depth;
}

static void write_escaped(struct text *text, unsigned char byte) {
    switch (byte) {
    case '"':
        text_append_string(text, "\\\"");
        break;
    case '\\':
        text_append_string(text, "\\\\");
        break;
    case '\n':
        text_append_string(text, "\\n");
        break;
    case '\t':
        text_append_string(text, "\\t");
        break;
    case '\r':
        text_append_string(text, "\\r");
        break;
    default:
        text_append_format(text, "\\u%04x", byte);
    }
}

static void write_quoted(struct text *text, const char *value) {
    text_append(text, "\"", 1);
    const unsigned char *bytes = (const unsigned char *)value;
    while (*bytes) {
        size_t plain = 0;
        while (bytes[plain] >= 0x20 && bytes[plain] < 0x7f && bytes[plain] != '"' && bytes[plain] != '\\')
            plain++;
        text_append(text, bytes, plain);
        bytes += plain;
        if (*bytes >= 0x80) {
            uint32_t code_point;
            const char *character = (const char *)bytes;
            size_t length = utf8_decode(character, strnlen(character, UTF8_MAXIMUM_LENGTH), &code_point);
            text_append(text, length ? character : "\xef\xbf\xbd", length ? length : 3);
            bytes += length ? length : 1;
        } else if (*bytes) {
            write_escaped(text, *bytes++);
        }
    }
    text_append(text, "\"", 1);
}

/* Writes what precedes a value: its comma and its key. */
static void write_key(struct text *text, const char *key) {
    struct json_nesting *nesting = &text->nesting;
    bool is_first = !(nesting->has_value & current(nesting));
    bool is_member = nesting->is_object & current(nesting);
    assert(is_member == (key != NULL));
    assert(is_first || nesting->depth > 0);
    nesting->has_value |= current(nesting);
    if (!is_first)
        text_append(text, ",", 1);
    if (key) {
        write_quoted(text, key);
        text_append(text, ":", 1);
    }
}

static void begin_container(struct text *text, const char *key, bool is_object) {
    struct json_nesting *nesting = &text->nesting;
    write_key(text, key);
    text_append(text, is_object ? "{" : "[", 1);
    assert(nesting->depth < JSON_DEPTH_LIMIT);
    nesting->depth++;
    nesting->has_value &= ~current(nesting);
    nesting->is_object &= ~current(nesting);
    nesting->is_object |= is_object ? current(nesting) : 0;
}

static void end_container(struct text *text, bool is_object) {
    struct json_nesting *nesting = &text->nesting;
    bool is_object_open = nesting->is_object & current(nesting);
    assert(nesting->depth > 0 && is_object_open == is_object);
    nesting->depth--;
    text_append(text, is_object ? "}" : "]", 1);
}

void json_write_begin_object(struct text *text, const char *key) {
    begin_container(text, key, true);
}

void json_write_end_object(struct text *text) {
    end_container(text, true);
}

void json_write_begin_array(struct text *text, const char *key) {
    begin_container(text, key, false);
}

void json_write_end_array(struct text *text) {
    end_container(text, false);
}

void json_write_string(struct text *text, const char *key, const char *value) {
    write_key(text, key);
    if (value)
        write_quoted(text, value);
    else
        text_append_string(text, "null");
}

void json_write_integer(struct text *text, const char *key, int64_t value) {
    write_key(text, key);
    text_append_format(text, "%lld", (long long)value);
}

void json_write_number(struct text *text, const char *key, double value) {
    write_key(text, key);
    text_append_number(text, value);
}

void json_write_real(struct text *text, const char *key, float value) {
    write_key(text, key);
    text_append_real(text, value);
}

void json_write_boolean(struct text *text, const char *key, bool value) {
    json_write_raw(text, key, value ? "true" : "false");
}

void json_write_null(struct text *text, const char *key) {
    json_write_raw(text, key, NULL);
}

void json_write_raw(struct text *text, const char *key, const char *json) {
    write_key(text, key);
    text_append_string(text, json ? json : "null");
}

void json_write_strings(struct text *text, const char *key, const char *const *values, size_t count) {
    json_write_begin_array(text, key);
    for (size_t i = 0; i < count; i++)
        json_write_string(text, NULL, values[i]);
    json_write_end_array(text);
}

void json_write_booleans(struct text *text, const char *key, const bool *values, size_t count) {
    json_write_begin_array(text, key);
    for (size_t i = 0; i < count; i++)
        json_write_boolean(text, NULL, values[i]);
    json_write_end_array(text);
}

void json_write_label(struct text *text, const char *key, const char *label) {
    size_t digits = strspn(label, "0123456789");
    bool is_number = digits > 0 && digits < 16 && !label[digits] && (digits == 1 || label[0] != '0');
    if (is_number)
        json_write_raw(text, key, label);
    else
        json_write_string(text, key, label);
}

static void sink_begin_object(void *owner, const char *key) {
    json_write_begin_object(owner, key);
}

static void sink_end_object(void *owner) {
    json_write_end_object(owner);
}

static void sink_begin_array(void *owner, const char *key) {
    json_write_begin_array(owner, key);
}

static void sink_end_array(void *owner) {
    json_write_end_array(owner);
}

static void sink_number(void *owner, const char *key, double value) {
    json_write_number(owner, key, value);
}

static void sink_real(void *owner, const char *key, float value) {
    json_write_real(owner, key, value);
}

static void sink_integer(void *owner, const char *key, int64_t value) {
    json_write_integer(owner, key, value);
}

static void sink_boolean(void *owner, const char *key, bool value) {
    json_write_boolean(owner, key, value);
}

static void sink_text(void *owner, const char *key, const char *value) {
    json_write_string(owner, key, value);
}

static void sink_null(void *owner, const char *key) {
    json_write_null(owner, key);
}

struct result_sink json_result_sink(struct text *text) {
    return (struct result_sink){.owner = text,
                                .begin_object = sink_begin_object,
                                .end_object = sink_end_object,
                                .begin_array = sink_begin_array,
                                .end_array = sink_end_array,
                                .number = sink_number,
                                .real = sink_real,
                                .integer = sink_integer,
                                .boolean = sink_boolean,
                                .text = sink_text,
                                .null = sink_null};
}
