/* The formats of request and answer bodies. Each is declared once: its name, the path suffix that selects it,
 * and its media type. Lists of struct export (server/http/export.h) say which resource has which formats and
 * who writes them.
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
    const char *suffix;       /* ".csv"; "" for a format that paths select without a suffix */
    const char *media_type;   /* "text/csv" */
    const char *content_type; /* the media type with its parameters, for answers */
    bool is_text;
    /* Whether an Accept header may choose it if a path has several formats. The other formats' media types
     * are too general to identify them. */
    bool is_negotiable;
};

/* Indexed by enum format. */
extern const struct format_kind format_table[FORMAT_COUNT];

/* The format with that name, or FORMAT_NONE. */
enum format format_find_name(const char *name);
/* The format with the media type of a Content-Type header, whose parameters are ignored. FORMAT_NONE if the
 * header is NULL or has any other type. */
enum format format_find_media_type(const char *content_type);

#endif
