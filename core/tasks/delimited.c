/* CSV and TSV records: see delimited.h. */
#include "core/tasks/delimited.h"

#include "core/tasks/utf8.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool check_text(const char *bytes, size_t size, struct error *error) {
    size_t line = 1;
    for (size_t i = 0; i < size;) {
        uint32_t code_point = 0;
        size_t length = utf8_decode(bytes + i, size - i, &code_point);
        if (length == 0)
            return error_set(error, ERROR_INVALID,
                             "line %zu: byte 0x%02X is not UTF-8; save the file as UTF-8 text", line,
                             (unsigned char)bytes[i]);
        bool is_line_end =
            code_point == '\n' || (code_point == '\r' && (i + 1 == size || bytes[i + 1] != '\n'));
        if (code_point < 0x20 && code_point != '\t' && code_point != '\n' && code_point != '\r' &&
            code_point != '\f')
            return error_set(error, ERROR_INVALID,
                             "line %zu: byte 0x%02X does not occur in text; this is not a text file", line,
                             (unsigned int)code_point);
        line += is_line_end;
        i += length;
    }
    return true;
}

bool delimited_open(struct delimited_reader *reader, const char *bytes, size_t size, char separator,
                    struct error *error) {
    memset(reader, 0, sizeof *reader);
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        size -= 3;
    }
    reader->bytes = bytes;
    reader->size = size;
    reader->separator = separator;
    reader->line = 1;
    if (!check_text(bytes, size, error))
        return false;
    if (separator == ',') {
        reader->unquoted = malloc(size + 1);
        if (reader->unquoted == NULL)
            return error_set_memory(error, size + 1);
    }
    return true;
}

void delimited_close(struct delimited_reader *reader) {
    free(reader->fields);
    free(reader->unquoted);
    memset(reader, 0, sizeof *reader);
}

static bool at_line_end(const struct delimited_reader *reader) {
    return reader->position >= reader->size || reader->bytes[reader->position] == '\n' ||
           reader->bytes[reader->position] == '\r';
}

static void skip_line_end(struct delimited_reader *reader) {
    if (reader->position >= reader->size)
        return;
    bool is_return = reader->bytes[reader->position] == '\r';
    reader->position++;
    if (is_return && reader->position < reader->size && reader->bytes[reader->position] == '\n')
        reader->position++;
    reader->line++;
}

/* Skips lines that have only blanks. A tab is a blank only if it is not the separator. */
static void skip_empty_lines(struct delimited_reader *reader) {
    while (reader->position < reader->size) {
        size_t start = reader->position;
        while (!at_line_end(reader) &&
               (reader->bytes[reader->position] == ' ' ||
                (reader->bytes[reader->position] == '\t' && reader->separator != '\t')))
            reader->position++;
        if (!at_line_end(reader)) {
            reader->position = start;
            return;
        }
        skip_line_end(reader);
    }
}

/* Reads a quoted field, starting at its opening quote. `*used` is the number of bytes of `unquoted` in
 * use. */
static bool read_quoted(struct delimited_reader *reader, size_t *used, struct delimited_field *field,
                        struct error *error) {
    size_t first_line = reader->line;
    field->bytes = reader->unquoted + *used;
    reader->position++;
    for (;;) {
        if (reader->position >= reader->size)
            return error_set(error, ERROR_INVALID, "line %zu: the quoted field that starts here has no end",
                             first_line);
        char byte = reader->bytes[reader->position++];
        if (byte == '"') {
            if (reader->position >= reader->size || reader->bytes[reader->position] != '"')
                break;
            reader->position++;
        }
        reader->line += byte == '\n';
        reader->unquoted[(*used)++] = byte;
    }
    field->length = (size_t)(reader->unquoted + *used - field->bytes);
    if (!at_line_end(reader) && reader->bytes[reader->position] != reader->separator)
        return error_set(error, ERROR_INVALID,
                         "line %zu: a closing quote is followed by more text; write a quote inside a quoted "
                         "field twice",
                         reader->line);
    return true;
}

static bool read_plain(struct delimited_reader *reader, struct delimited_field *field, struct error *error) {
    field->bytes = reader->bytes + reader->position;
    while (!at_line_end(reader) && reader->bytes[reader->position] != reader->separator) {
        if (reader->separator == ',' && reader->bytes[reader->position] == '"')
            return error_set(error, ERROR_INVALID,
                             "line %zu: a quote inside an unquoted field; put the whole field in quotes and "
                             "write the inner quote twice",
                             reader->line);
        reader->position++;
    }
    field->length = (size_t)(reader->bytes + reader->position - field->bytes);
    return true;
}

static struct delimited_field *add_field(struct delimited_reader *reader) {
    if (reader->field_count == reader->field_capacity) {
        size_t capacity = reader->field_capacity == 0 ? 16 : 2 * reader->field_capacity;
        struct delimited_field *fields = realloc(reader->fields, capacity * sizeof *fields);
        if (fields == NULL)
            return NULL;
        reader->fields = fields;
        reader->field_capacity = capacity;
    }
    return &reader->fields[reader->field_count++];
}

bool delimited_next(struct delimited_reader *reader, struct error *error) {
    skip_empty_lines(reader);
    if (reader->position >= reader->size)
        return false;
    reader->record_line = reader->line;
    reader->field_count = 0;
    size_t used = 0;
    for (;;) {
        struct delimited_field *field = add_field(reader);
        if (field == NULL)
            return error_set_memory(error, 2 * reader->field_capacity * sizeof *field);
        bool is_quoted =
            reader->separator == ',' && !at_line_end(reader) && reader->bytes[reader->position] == '"';
        if (!(is_quoted ? read_quoted(reader, &used, field, error) : read_plain(reader, field, error)))
            return false;
        if (at_line_end(reader))
            break;
        reader->position++;
    }
    skip_line_end(reader);
    return true;
}

struct delimited_field delimited_trim(struct delimited_field field) {
    while (field.length > 0 && (field.bytes[0] == ' ' || field.bytes[0] == '\t')) {
        field.bytes++;
        field.length--;
    }
    while (field.length > 0 &&
           (field.bytes[field.length - 1] == ' ' || field.bytes[field.length - 1] == '\t'))
        field.length--;
    return field;
}

bool delimited_field_is(struct delimited_field field, const char *name) {
    field = delimited_trim(field);
    return field.length == strlen(name) && strncasecmp(field.bytes, name, field.length) == 0;
}

bool delimited_is_whole_number(struct delimited_field field) {
    size_t sign = field.length > 0 && (field.bytes[0] == '-' || field.bytes[0] == '+');
    for (size_t i = sign; i < field.length; i++)
        if (!isdigit((unsigned char)field.bytes[i]))
            return false;
    return field.length > sign && field.length - sign < 18;
}

struct delimited_excerpt delimited_excerpt_of(struct delimited_field field) {
    struct delimited_excerpt excerpt = {{0}};
    size_t used = 0;
    while (used < field.length) {
        uint32_t code_point = 0;
        size_t length = utf8_decode(field.bytes + used, field.length - used, &code_point);
        if (length == 0 || used + length > 40)
            break;
        memcpy(excerpt.text + used, field.bytes + used, length);
        used += length;
    }
    if (used < field.length)
        memcpy(excerpt.text + used, "...", 3);
    return excerpt;
}
