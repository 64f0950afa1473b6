/* Reads CSV and TSV bytes record by record.
 *
 * CSV by RFC 4180: a field in quotes may hold commas, line ends and doubled quotes. TSV: fields are taken as
 * they are, a quote means nothing. LF, CRLF and CR end a line; lines of nothing but blanks are skipped; a
 * UTF-8 byte order mark is skipped. Bytes that are no UTF-8 text are an error that names the line. */
#ifndef ATTNLAB_CORE_TASKS_DELIMITED_H
#define ATTNLAB_CORE_TASKS_DELIMITED_H

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>

struct delimited_field {
    const char *bytes; /* not null-terminated; quotes already resolved */
    size_t length;
};

/* Zero everything but what delimited_open sets. One record's fields are valid until the next is read. */
struct delimited_reader {
    const char *bytes; /* borrowed */
    size_t size, position;
    char separator;
    size_t line;                    /* of `position`, counted from 1 */
    size_t record_line;             /* where the record just read began */
    struct delimited_field *fields; /* owned */
    size_t field_count, field_capacity;
    char *unquoted; /* owned: text of the fields that were in quotes */
};

/* `separator` is ',' for CSV (quotes are honoured) or '\t' for TSV (they are not). Checks the whole text
 * first. Free with delimited_close, also after a failure. */
bool delimited_open(struct delimited_reader *reader, const char *bytes, size_t size, char separator,
                    struct error *error);
/* Reads the next record into `fields`. Returns false at the end (error->code stays ERROR_NONE) and on a
 * failure. */
bool delimited_next(struct delimited_reader *reader, struct error *error);
void delimited_close(struct delimited_reader *reader);

/* The field without the blanks around it. */
struct delimited_field delimited_trim(struct delimited_field field);
/* Whether the field, trimmed, is `name`; ASCII letters in either case. */
bool delimited_field_is(struct delimited_field field, const char *name);
/* Whether the field is a whole number of at most 17 digits. */
bool delimited_is_whole_number(struct delimited_field field);

/* A field as a message can show it: at most 40 bytes, cut between characters. */
struct delimited_excerpt {
    char text[44];
};
struct delimited_excerpt delimited_excerpt_of(struct delimited_field field);

#endif
