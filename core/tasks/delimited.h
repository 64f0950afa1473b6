/* Reads CSV and TSV bytes record by record.
 *
 * CSV follows RFC 4180: a quoted field may contain commas, line breaks and doubled quotes. In TSV a field is
 * taken literally, and a quote has no meaning. LF, CRLF and CR end a line. Lines that have only blanks and a
 * UTF-8 byte order mark are skipped. Bytes that are not UTF-8 text are an error that names the line. */
#ifndef ATTNLAB_CORE_TASKS_DELIMITED_H
#define ATTNLAB_CORE_TASKS_DELIMITED_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct delimited_field {
    const char *bytes; /* not null-terminated; quotes already resolved */
    size_t length;
};

/* delimited_open initialises the reader. A record's fields are valid until the next record is read. */
struct delimited_reader {
    const char *bytes; /* borrowed */
    size_t size, position;
    char separator;
    size_t line;                    /* of `position`, counted from 1 */
    size_t record_line;             /* the line on which the current record began */
    struct delimited_field *fields; /* owned */
    size_t field_count, field_capacity;
    char *unquoted; /* owned: the text of the quoted fields */
};

/* `separator` is ',' for CSV, where quotes count, or '\t' for TSV, where they do not. Checks the whole text
 * first. Free with delimited_close, even after a failure. */
bool delimited_open(struct delimited_reader *reader, const char *bytes, size_t size, char separator,
                    struct error *error);
/* Reads the next record into `fields`. Returns false at the end, with error->code still ERROR_NONE, and on
 * failure. */
bool delimited_next(struct delimited_reader *reader, struct error *error);
void delimited_close(struct delimited_reader *reader);

/* The field without the blanks around it. */
struct delimited_field delimited_trim(struct delimited_field field);
/* Whether the trimmed field is `name`, ignoring the case of ASCII letters. */
bool delimited_field_is(struct delimited_field field, const char *name);
/* Whether the field is a whole number of at most 17 digits. */
bool delimited_is_whole_number(struct delimited_field field);

/* A field shortened for a message: at most 40 bytes, cut between characters. */
struct delimited_excerpt {
    char text[44];
};
struct delimited_excerpt delimited_excerpt_of(struct delimited_field field);

#endif
