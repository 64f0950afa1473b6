/* The formats that bodies of requests and answers have, each declared once: its name, the suffix of a path
 * that asks for it, and its media type. Which resource has which formats, and who writes them, is said by
 * lists of struct export (server/http/export.h).
 *
 * This folder reads and writes JSON, CSV, .npy, readable text, and the weight files of other programs. May
 * call system and core. Called by runs, access, http, api and commands. */
#ifndef ATTNLAB_SERVER_FORMATS_FORMAT_H
#define ATTNLAB_SERVER_FORMATS_FORMAT_H

#include <stdbool.h>

enum format {
    FORMAT_NONE,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_TSV,
    FORMAT_NPY,
    FORMAT_SAFETENSORS,
    FORMAT_EVENTS,
    FORMAT_PROMETHEUS,
    FORMAT_PROBLEM, /* RFC 9457 */
    FORMAT_COUNT
};

struct format_kind {
    const char *name;         /* "csv" */
    const char *suffix;       /* ".csv"; "" for a format that a path has without one */
    const char *media_type;   /* "text/csv" */
    const char *content_type; /* the same with its parameters, as answers carry it */
    bool is_text;
    /* An Accept header may choose it where a path has several formats. The media type of those that it may
     * not choose is too general to name them. */
    bool is_negotiable;
};

/* By enum format. */
extern const struct format_kind format_table[FORMAT_COUNT];

/* The format of that name; FORMAT_NONE for any other. */
enum format format_find_name(const char *name);
/* The format whose media type a Content-Type header names, parameters apart; NULL, or another type:
 * FORMAT_NONE. */
enum format format_find_media_type(const char *content_type);

#endif
