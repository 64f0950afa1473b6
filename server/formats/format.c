/* The table of formats: see format.h. */
#include "server/formats/format.h"

#include <string.h>
#include <strings.h>

const struct format_kind format_table[FORMAT_COUNT] = {
    [FORMAT_NONE] = {"", "", "", "", .is_text = false},
    [FORMAT_JSON] = {"json", "", "application/json", "application/json", .is_text = true,
                     .is_negotiable = true},
    [FORMAT_CSV] = {"csv", ".csv", "text/csv", "text/csv; charset=utf-8", .is_text = true,
                    .is_negotiable = true},
    [FORMAT_TSV] = {"tsv", ".tsv", "text/tab-separated-values", "text/tab-separated-values; charset=utf-8",
                    .is_text = true, .is_negotiable = true},
    [FORMAT_NPY] = {"npy", ".npy", "application/octet-stream", "application/octet-stream", .is_text = false},
    [FORMAT_SAFETENSORS] = {"safetensors", ".safetensors", "application/octet-stream",
                            "application/octet-stream", .is_text = false},
    [FORMAT_EVENTS] = {"events", "", "text/event-stream", "text/event-stream", .is_text = true},
    [FORMAT_PROMETHEUS] = {"prometheus", "", "text/plain", "text/plain; version=0.0.4; charset=utf-8",
                           .is_text = true},
    [FORMAT_PROBLEM] = {"problem", "", "application/problem+json", "application/problem+json",
                        .is_text = true},
};

enum format format_find_name(const char *name) {
    for (enum format format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++)
        if (strcmp(format_table[format].name, name) == 0)
            return format;
    return FORMAT_NONE;
}

enum format format_find_media_type(const char *content_type) {
    if (!content_type)
        return FORMAT_NONE;
    size_t length = strcspn(content_type, "; \t");
    for (enum format format = FORMAT_NONE + 1; format < FORMAT_COUNT; format++) {
        const char *media_type = format_table[format].media_type;
        if (length == strlen(media_type) && strncasecmp(content_type, media_type, length) == 0)
            return format;
    }
    return FORMAT_NONE;
}
