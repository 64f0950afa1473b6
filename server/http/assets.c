/* Finds the page's files and sends them: see assets.h. */
#include "server/http/assets.h"

#include "server/system/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const content_types[][2] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".json", "application/json"},
    {".woff2", "font/woff2"},
    {".txt", "text/plain; charset=utf-8"},
};

static const char *find_content_type(const char *path) {
    const char *suffix = strrchr(path, '.');
    for (size_t i = 0; suffix && i < sizeof content_types / sizeof *content_types; i++)
        if (strcmp(content_types[i][0], suffix) == 0)
            return content_types[i][1];
    return "application/octet-stream";
}

static const struct asset *find_embedded(const char *path) {
    for (size_t i = 0; i < embedded_asset_count; i++)
        if (strcmp(embedded_assets[i].path, path) == 0)
            return &embedded_assets[i];
    return NULL;
}

/* Reads a file from the folder. Refuses a path with a segment that begins with a dot. */
static bool read_from_folder(const char *folder, const char *path, void **bytes, size_t *size) {
    char name[1024];
    if (*path != '/' || strstr(path, "/."))
        return false;
    int length = snprintf(name, sizeof name, "%s%s", folder, path);
    return length > 0 && (size_t)length < sizeof name && file_read(name, bytes, size, NULL);
}

static const char *name_index(const char *path) {
    return strcmp(path, "/") == 0 ? "/index.html" : path;
}

bool assets_find(const char *folder, const char *path) {
    void *bytes = NULL;
    size_t size = 0;
    path = name_index(path);
    bool is_found = (folder && read_from_folder(folder, path, &bytes, &size)) || find_embedded(path);
    free(bytes);
    return is_found;
}

bool assets_answer(const char *folder, const char *path, struct response *response) {
    void *bytes = NULL;
    size_t size = 0;
    path = name_index(path);
    if (folder && read_from_folder(folder, path, &bytes, &size)) {
        response_set_bytes(response, 200, find_content_type(path), bytes, size);
        return true;
    }
    const struct asset *asset = find_embedded(path);
    if (!asset)
        return false;
    response_set_borrowed(response, 200, find_content_type(path), asset->begin,
                          (size_t)(asset->end - asset->begin));
    response_add_header(response, "ETag", "%s", asset->etag);
    return true;
}
